"""Counters for Prometheus: how many requests and how long they take, never their content."""

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from compass.server import logs

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "compass_requests", "Requests", ("method", "route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "compass_request_seconds",
            "Time of a request",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.jobs = Counter(
            "compass_jobs", "Jobs that ended", ("kind", "state"), registry=self.registry
        )
        self.uploaded = Counter("compass_upload_bytes", "Bytes uploaded", registry=self.registry)
        self.waiting = Gauge(
            "compass_waiting", "Pieces of work that wait", ("pool",), registry=self.registry
        )
        self.busy = Gauge(
            "compass_busy", "Working processes that are busy", ("pool",), registry=self.registry
        )

        self.last = time.perf_counter()  # when somebody last asked for something

    @property
    def silence(self) -> float:
        """Seconds since somebody asked for something."""
        return time.perf_counter() - self.last

    def text(self) -> bytes:
        """All counters as Prometheus reads them."""
        return generate_latest(self.registry)


class RequestMetrics:
    """Counts and logs every request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = self.metrics.last = time.perf_counter()
        status = 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            taken = time.perf_counter() - began
            # The pattern of the path, not the path: it holds no names, and there are few of them.
            route = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self.metrics.requests.labels(method, route, str(status)).inc()
            self.metrics.seconds.labels(route).observe(taken)
            logs.event(
                "request",
                method=method,
                route=route,
                status=status,
                ms=round(1000 * taken, 1),
            )
