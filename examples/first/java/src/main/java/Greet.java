import io.camunda.client.CamundaClient;
import io.camunda.client.api.response.ProcessInstanceResult;
import io.camunda.client.api.worker.JobWorker;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** Deploys a process, starts it, completes its task, and waits for its result. */
public class Greet {
  public static void main(String[] arguments) throws Exception {
    String address = System.getenv().getOrDefault("CAMUNDA_REST_ADDRESS", "http://localhost:8080");
    try (CamundaClient client =
            CamundaClient.newClientBuilder()
                .restAddress(URI.create(address))
                .build();
        JobWorker worker =
            client
                .newWorker()
                .jobType("greet")
                .handler(
                    (jobs, job) ->
                        jobs.newCompleteCommand(job)
                            .variables(Map.of("greeting", "Hello, " + job.getVariable("name") + "!"))
                            .send()
                            .join())
                .timeout(Duration.ofSeconds(30))
                .open()) {
      byte[] model = Files.readAllBytes(Path.of(arguments[0]));
      client.newDeployResourceCommand().addResourceBytes(model, "greet.bpmn").send().join();
      ProcessInstanceResult result =
          client
              .newCreateInstanceCommand()
              .bpmnProcessId("greet")
              .latestVersion()
              .variables(Map.of("name", "Ada"))
              .withResult()
              .send()
              .join();
      System.out.println(result.getVariable("greeting"));
    }
  }
}
