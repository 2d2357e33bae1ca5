/** Where on the page one is. Everything stands behind #, which is sent to no server and no log. */
import { useSyncExternalStore } from "react";

/** What can be asked of one run. */
export type FromRun = "reconfigure" | "what-if";

export type Route =
  | { page: "home" }
  | { page: "data"; dataset: string }
  | {
      page: "ask";
      engine: string;
      chat?: string;
      question?: string;
      data?: string;
      rules?: string[];
      /** A run to begin a question at, and which one. */
      run?: number;
      begin?: FromRun;
    }
  | { page: "answer"; answer: string }
  | { page: "experiments" }
  | { page: "experiment"; experiment: string }
  | { page: "machines"; dataset?: string }
  | { page: "synthetic"; dataset?: string }
  | { page: "synthesizer"; synthesizer: string }
  /** A table of accounting: advice on a job of it, or the report on all of them. */
  | { page: "jobs"; dataset?: string; job?: string; report?: true }
  | { page: "history" };

/** The route that an address means; what is not understood leads home. */
export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page, id] = path.split("/");
  const said = new URLSearchParams(query);
  if (page === "data" && id) return { page, dataset: id };
  if (page === "answer" && id) return { page, answer: id };
  if (page === "history" || page === "experiments") return { page };
  if (page === "experiment" && id) return { page, experiment: id };
  if (page === "synthesizer" && id) return { page, synthesizer: id };
  if (page === "synthetic") return id ? { page, dataset: id } : { page };
  if (page === "machines") return id ? { page, dataset: id } : { page };
  if (page === "jobs") {
    if (!id) return { page };
    if (said.has("report")) return { page, dataset: id, report: true };
    const job = said.get("job");
    return job ? { page, dataset: id, job } : { page, dataset: id };
  }
  if (page === "ask" && id) {
    const route: Route = { page, engine: id };
    const chat = said.get("chat");
    const question = said.get("q");
    const data = said.get("data");
    const rules = said.getAll("rule");
    if (chat) route.chat = chat;
    if (question) route.question = question;
    if (data) route.data = data;
    if (rules.length) route.rules = rules;
    const run = said.get("run") ?? "";
    const begin = said.get("begin");
    if (/^\d{1,15}$/.test(run) && (begin === "reconfigure" || begin === "what-if")) {
      route.run = Number(run);
      route.begin = begin;
    }
    return route;
  }
  return { page: "home" };
}

/** The address of a route. */
export function href(route: Route): string {
  switch (route.page) {
    case "home":
      return "#/";
    case "history":
      return "#/history";
    case "experiments":
      return "#/experiments";
    case "experiment":
      return `#/experiment/${route.experiment}`;
    case "synthetic":
      return `#/synthetic${route.dataset ? `/${route.dataset}` : ""}`;
    case "synthesizer":
      return `#/synthesizer/${route.synthesizer}`;
    case "machines":
      return `#/machines${route.dataset ? `/${route.dataset}` : ""}`;
    case "jobs": {
      if (!route.dataset) return "#/jobs";
      const job = route.job ? `?${new URLSearchParams({ job: route.job })}` : "";
      return `#/jobs/${route.dataset}${route.report ? "?report=1" : job}`;
    }
    case "data":
      return `#/data/${route.dataset}`;
    case "answer":
      return `#/answer/${route.answer}`;
    case "ask": {
      const said = new URLSearchParams();
      if (route.chat) said.set("chat", route.chat);
      if (route.question) said.set("q", route.question);
      if (route.data) said.set("data", route.data);
      for (const rule of route.rules ?? []) said.append("rule", rule);
      if (route.run !== undefined && route.begin) {
        said.set("run", String(route.run));
        said.set("begin", route.begin);
      }
      const text = said.toString();
      return `#/ask/${route.engine}${text ? `?${text}` : ""}`;
    }
  }
}

/** A link with the same question, for this engine or another one of the same data. */
export function repeating(engine: { id: string; fingerprint: string }, question: string): string {
  const link = href({ page: "ask", engine: engine.id, question, data: engine.fingerprint });
  return `${location.origin}${location.pathname}${link}`;
}

export function go(route: Route, replace = false): void {
  const to = href(route);
  if (to === (location.hash || "#/")) return;
  if (replace) {
    history.replaceState(history.state, "", to);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = to;
}

let last = { hash: "?", route: { page: "home" } as Route };

function current(): Route {
  if (last.hash !== location.hash) last = { hash: location.hash, route: parse(location.hash) };
  return last.route;
}

export function useRoute(): Route {
  return useSyncExternalStore((changed) => {
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, current);
}
