import io.camunda.client.CamundaClient;
import io.camunda.client.api.command.CompleteJobCommandStep1.CompleteJobCommandJobResultStep;
import io.camunda.client.api.command.CompleteJobResult;
import io.camunda.client.api.response.ActivatedJob;
import io.camunda.client.api.response.EvaluateDecisionResponse;
import io.camunda.client.api.search.enums.ElementInstanceType;
import io.camunda.client.api.search.enums.JobKind;
import io.camunda.client.api.search.enums.ListenerEventType;
import io.camunda.client.api.search.response.DecisionInstance;
import io.camunda.client.api.search.response.DecisionInstanceState;
import io.camunda.client.api.search.response.ElementInstance;
import io.camunda.client.api.search.response.Job;
import io.camunda.client.api.search.response.UserTask;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Function;

/** Ad-hoc sub-processes, task listeners, compensation, transactions and decisions with the official Java client. */
public class Rest {
  private static CamundaClient client;

  public static void main(String[] files) {
    URI address = URI.create(System.getenv("CAMUNDA_REST_ADDRESS"));
    try (CamundaClient made = CamundaClient.newClientBuilder().restAddress(address).build()) {
      client = made;
      for (String file : files) {
        client.newDeployResourceCommand().addResourceFile(file).send().join();
      }
      adHoc();
      taskListeners();
      everyElement();
      decisions();
      System.out.println("every answer was read");
    }
  }

  private static void adHoc() {
    long instance = start("adhoc");
    ElementInstance open = element(instance, "open");
    same(ElementInstanceType.AD_HOC_SUB_PROCESS, open.getType());
    client
        .newActivateAdHocSubProcessActivitiesCommand(String.valueOf(open.getElementInstanceKey()))
        .activateElement("B", Map.of("x", 0))
        .send()
        .join();
    complete(job("A"), null, Map.of("x", 1));
    complete(job("B"), null, Map.of("x", 2));
    ActivatedJob agent = job("agent");
    same(JobKind.AD_HOC_SUB_PROCESS, agent.getKind());
    complete(agent, result -> result.forAdHocSubProcess().activateElement("C").variable("x", "c"), Map.of());
    complete(job("C"), null, Map.of());
    complete(job("agent"), result -> result.forAdHocSubProcess().completionConditionFulfilled(true), Map.of());
    same(true, types(instance).contains(ElementInstanceType.AD_HOC_SUB_PROCESS_INNER_INSTANCE));
  }

  private static void taskListeners() {
    long instance = start("listeners");
    ActivatedJob creating = job("creating");
    same(JobKind.TASK_LISTENER, creating.getKind());
    same(ListenerEventType.CREATING, creating.getListenerEventType());
    complete(creating, result -> result.forUserTask().correctAssignee("ann").correctPriority(80), Map.of());
    UserTask task = task(instance);
    same(List.of("ann", 80), List.of(task.getAssignee(), task.getPriority()));
    Future<?> denied = client.newCompleteUserTaskCommand(task.getUserTaskKey()).send();
    complete(job("completing"), result -> result.forUserTask().deny(true, "it is incomplete"), Map.of());
    same(true, refusal(denied).contains("it is incomplete"));
    Future<?> allowed = client.newCompleteUserTaskCommand(task.getUserTaskKey()).send();
    complete(job("completing"), null, Map.of());
    same("", refusal(allowed));
    List<Job> jobs =
        client.newJobSearchRequest().filter(one -> one.processInstanceKey(instance)).send().join().items();
    same(1L, jobs.stream().filter(one -> Boolean.TRUE.equals(one.isDenied())).count());
    same(true, jobs.stream().allMatch(one -> one.getKind() == JobKind.TASK_LISTENER));
    same(false, jobs.stream().anyMatch(one -> one.getListenerEventType() == ListenerEventType.UNKNOWN_ENUM_VALUE));
  }

  /** Instances with the other elements, whose jobs are done in the order in which they come. */
  private static void everyElement() {
    long instance = start("others");
    for (String type : List.of("book", "pay", "ubook", "left", "right", "again", "again")) {
      complete(job(type), null, Map.of());
    }
    same(true, types(instance).containsAll(List.of(ElementInstanceType.SUB_PROCESS, ElementInstanceType.UNKNOWN)));
    long alone =
        client
            .newCreateInstanceCommand()
            .bpmnProcessId("alone")
            .latestVersion()
            .withResult()
            .requestTimeout(Duration.ofMinutes(1))
            .send()
            .join()
            .getProcessInstanceKey();
    same(
        true,
        types(alone)
            .containsAll(List.of(ElementInstanceType.EVENT_SUB_PROCESS, ElementInstanceType.MULTI_INSTANCE_BODY)));
  }

  /** Results of each shape, matched rules and a failure, in the answer and in the decision instances. */
  private static void decisions() {
    List<String> outputs =
        List.of("1.5", "\"a\"", "true", "null", "[1,[2],{\"a\":3}]", "{\"a\":1}", "\"2026-01-31\"", "[\"gold\",\"all\"]");
    for (int number = 0; number < outputs.size(); number++) {
      EvaluateDecisionResponse done = evaluate("shape" + number);
      same(outputs.get(number), done.getDecisionOutput());
      same(1, done.getEvaluatedDecisions().size());
    }
    same(2, evaluate("shape7").getEvaluatedDecisions().get(0).getMatchedRules().size());
    EvaluateDecisionResponse failed = evaluate("endless");
    same("endless", failed.getFailedDecisionId());
    same(true, failed.getFailureMessage().contains("exceeds the limit"));
    for (DecisionInstance one : client.newDecisionInstanceSearchRequest().send().join().items()) {
      boolean fails = one.getDecisionDefinitionId().equals("endless");
      same(fails ? DecisionInstanceState.FAILED : DecisionInstanceState.EVALUATED, one.getState());
      same(one.getResult(), client.newDecisionInstanceGetRequest(one.getDecisionInstanceId()).send().join().getResult());
    }
  }

  private static EvaluateDecisionResponse evaluate(String decision) {
    return client.newEvaluateDecisionCommand().decisionId(decision).variables(Map.of("n", 20)).send().join();
  }

  private static long start(String process) {
    return client
        .newCreateInstanceCommand()
        .bpmnProcessId(process)
        .latestVersion()
        .send()
        .join()
        .getProcessInstanceKey();
  }

  private static ActivatedJob job(String type) {
    List<ActivatedJob> jobs =
        client
            .newActivateJobsCommand()
            .jobType(type)
            .maxJobsToActivate(1)
            .timeout(Duration.ofMinutes(5))
            .requestTimeout(Duration.ofSeconds(20))
            .send()
            .join()
            .getJobs();
    same(1, jobs.size());
    return jobs.get(0);
  }

  private static void complete(
      ActivatedJob job, Function<CompleteJobCommandJobResultStep, CompleteJobResult> result, Map<String, Object> values) {
    var command = client.newCompleteCommand(job).variables(values);
    (result == null ? command : command.withResult(result)).send().join();
  }

  private static ElementInstance element(long instance, String id) {
    return client
        .newElementInstanceSearchRequest()
        .filter(one -> one.processInstanceKey(instance).elementId(id))
        .send()
        .join()
        .items()
        .get(0);
  }

  /** The types of an ended instance's elements. The client knows each of them. */
  private static TreeSet<ElementInstanceType> types(long instance) {
    TreeSet<ElementInstanceType> found = new TreeSet<>();
    for (ElementInstance one :
        client
            .newElementInstanceSearchRequest()
            .filter(filter -> filter.processInstanceKey(instance))
            .page(page -> page.limit(100))
            .send()
            .join()
            .items()) {
      same(false, one.getType() == ElementInstanceType.UNKNOWN_ENUM_VALUE);
      same(false, one.getEndDate() == null);
      found.add(one.getType());
    }
    return found;
  }

  private static UserTask task(long instance) {
    return client
        .newUserTaskSearchRequest()
        .filter(one -> one.processInstanceKey(instance))
        .send()
        .join()
        .items()
        .get(0);
  }

  /** The reason of a refused command; empty if it was accepted. */
  private static String refusal(Future<?> answer) {
    try {
      answer.get();
      return "";
    } catch (ExecutionException error) {
      return String.valueOf(error.getCause().getMessage());
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }

  private static void same(Object expected, Object found) {
    if (!expected.equals(found)) {
      throw new IllegalStateException("expected " + expected + " but found " + found);
    }
  }
}
