import { failure } from "@/api/client";
import { Failed, problem } from "@/api/problem";
import { session } from "@/api/session";

/** Whether this server knows a key, asked before anything is changed; throws why it cannot be used. */
export async function checkKey(given: string): Promise<void> {
  const headers = new Headers({ "Compass-Workspace": given });
  const token = session.token();
  if (token !== null) headers.set("Authorization", `Bearer ${token}`);
  const path = new URL("./api/v1/workspaces/mine", document.baseURI);
  const response = await fetch(path, { headers });
  if (response.ok) return;
  const failed = await failure(response);
  if (failed.problem.code !== "no-workspace") throw failed;
  throw new Failed(
    problem("this server knows no such key", "copy it from History in the other browser"),
    response.status,
  );
}
