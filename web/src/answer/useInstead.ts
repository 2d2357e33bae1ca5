import { useMutation } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import type { Query } from "@/api/types";
import { go } from "@/app/route";

/** Goes to the question that a changed query is, written out by the server. */
export function useInstead(engine: string) {
  return useMutation({
    mutationFn: async (query: Query) =>
      data(
        await api.POST("/api/v1/engines/{id}/queries", {
          params: { path: { id: engine } },
          body: { question: query, curve: [], where: [] },
        }),
      ),
    onSuccess: ({ text }) => go({ page: "ask", engine, question: text }),
  });
}
