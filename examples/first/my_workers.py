from vivero.worker import Worker

worker = Worker()


@worker.job("greet")
def greet(name: str) -> dict[str, str]:
    """The work behind the task: its result goes to the process as variables."""
    return {"greeting": f"Hello, {name}!"}
