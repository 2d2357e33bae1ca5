/** The curves through a configuration; the last ones stay until new ones have come. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import type { Config } from "@/api/types";
import type { Curves } from "./curves";

export function useCurves(
  engine: string,
  config: Config,
  parameters: readonly string[],
  outcomes: readonly string[],
) {
  return useQuery({
    queryKey: ["curves", engine, config, parameters, outcomes],
    queryFn: async ({ signal }): Promise<Curves> => ({
      config,
      curves: data(
        await api.POST("/api/v1/engines/{id}/curves", {
          params: { path: { id: engine } },
          body: { run: config, parameters: [...parameters], outcomes: [...outcomes] },
          signal,
        }),
      ),
    }),
    enabled: parameters.length > 0,
    staleTime: Number.POSITIVE_INFINITY, // an engine never learns other runs
    placeholderData: keepPreviousData,
  });
}
