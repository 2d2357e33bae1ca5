/** How well the models of an engine do, in one line. */
import type { EngineInfo } from "@/api/types";
import { isMean, score } from "@/show/modelError";
import { share } from "@/show/values";

type Model = EngineInfo["models"][number];

/** "on new runs off by 7.6 % in runtime_ms"; a model that was brought may know the runs already. */
export function quality({ models, brought }: Pick<EngineInfo, "models" | "brought">): string {
  const own = models.filter((one) => one.unseen === false || one.target in (brought ?? {}));
  const learnt = models.filter((one) => !own.includes(one));
  const told = [];
  if (learnt.length) told.push(`on new runs ${errors(learnt)}`);
  if (own.length) told.push(`on past runs, which your model may know, ${errors(own)}`);
  return told.join("; ");
}

function errors(models: readonly Model[], most = 4): string {
  const shown = models.slice(0, most);
  const numbers = shown.filter(isMean).map((one) => `${share(one.error)} in ${one.target}`);
  const others = shown.filter((one) => !isMean(one)).map((one) => `${score(one)} in ${one.target}`);
  const means = numbers.length ? [`off by ${numbers.join(", ")} on average`] : [];
  const more = models.length > most ? [`${models.length - most} more outcomes`] : [];
  return [...means, ...others, ...more].join("; ");
}
