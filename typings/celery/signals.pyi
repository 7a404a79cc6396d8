from collections.abc import Callable

class Signal:
    def connect(self, receiver: Callable[..., None], *, weak: bool = ...) -> object: ...

worker_ready: Signal
worker_init: Signal
worker_process_init: Signal
worker_shutdown: Signal
beat_init: Signal
task_failure: Signal
