import { useMutation } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import type { Query } from "@/api/types";
import { go } from "@/app/route";
import { askAgain } from "@/query/again";

/**
 * Goes to the question that a changed query is, written out by the server. With `ask` it is asked
 * there by the same press of a button; else whoever pressed it looks at it first.
 */
export function useInstead(engine: string, ask = false) {
  return useMutation({
    mutationFn: async (query: Query) =>
      data(
        await api.POST("/api/v1/engines/{id}/queries", {
          params: { path: { id: engine } },
          body: { question: query, curve: [], where: [] },
        }),
      ),
    onSuccess: ({ text }) =>
      ask ? askAgain(engine, text) : go({ page: "ask", engine, question: text }),
  });
}
