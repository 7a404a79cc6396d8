from collections.abc import Callable, Iterable, Sequence
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

P = ParamSpec("P")
R = TypeVar("R")

class Signature:
    def apply_async(self, **options: Any) -> AsyncResult: ...

class AsyncResult:
    id: str
    def get(self, timeout: float | None = ...) -> Any: ...
    def revoke(self, *, terminate: bool = ..., signal: str = ...) -> None: ...

class Request:
    id: str
    retries: int
    hostname: str

class Task(Generic[P, R]):
    name: str
    request: Request
    max_retries: int | None
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    def delay(self, *args: P.args, **kwargs: P.kwargs) -> AsyncResult: ...
    def delay_on_commit(self, *args: P.args, **kwargs: P.kwargs) -> None: ...
    def apply_async(
        self,
        args: Sequence[Any] | None = ...,
        kwargs: dict[str, Any] | None = ...,
        *,
        countdown: float | None = ...,
        expires: float | None = ...,
        queue: str | None = ...,
        task_id: str | None = ...,
        ignore_result: bool = ...,
        retry: bool = ...,
    ) -> AsyncResult: ...
    def retry(self, *, exc: BaseException | None = ..., countdown: float | None = ...) -> BaseException: ...
    def s(self, *args: Any, **kwargs: Any) -> Signature: ...

class Control:
    def ping(self, destination: Iterable[str] | None = ..., timeout: float = ...) -> list[dict[str, Any]]: ...
    def revoke(self, task_id: str, *, terminate: bool = ..., signal: str = ...) -> None: ...

class Beat:
    def run(self) -> None: ...

class Celery:
    conf: Any
    control: Control
    tasks: dict[str, Task[..., Any]]
    def __init__(self, main: str) -> None: ...
    def config_from_object(self, obj: str, *, namespace: str = ...) -> None: ...
    def autodiscover_tasks(
        self, packages: Iterable[str] | Callable[[], Iterable[str]] | None = ..., related_name: str = ...
    ) -> None: ...
    def worker_main(self, argv: list[str]) -> None: ...
    def connection_or_acquire(self) -> Any: ...
    def Beat(self, *, schedule: str, loglevel: str, quiet: bool = ...) -> Beat: ...
    def send_task(self, name: str, args: Sequence[Any] = ..., **options: Any) -> AsyncResult: ...

T = TypeVar("T")

@overload
def shared_task(function: Callable[P, R], /) -> Task[P, R]: ...
@overload
def shared_task(
    *,
    bind: bool,
    name: str | None = ...,
    acks_late: bool = ...,
    time_limit: float | None = ...,
    soft_time_limit: float | None = ...,
    autoretry_for: tuple[type[BaseException], ...] = ...,
    max_retries: int | None = ...,
    retry_backoff: bool | int = ...,
    ignore_result: bool = ...,
) -> Callable[[Callable[Concatenate[Task[..., Any], P], R]], Task[P, R]]: ...
@overload
def shared_task(
    *,
    name: str | None = ...,
    acks_late: bool = ...,
    time_limit: float | None = ...,
    soft_time_limit: float | None = ...,
    autoretry_for: tuple[type[BaseException], ...] = ...,
    max_retries: int | None = ...,
    retry_backoff: bool | int = ...,
    ignore_result: bool = ...,
) -> Callable[[Callable[P, R]], Task[P, R]]: ...
