/** Asking for the past runs. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import { joined, portions } from "./points";

/** Some columns of the past runs. The same count gives the same sample, whatever the columns. */
export function useObserved(engine: string, names: readonly string[], count: number) {
  return useQuery({
    queryKey: ["points", engine, count, ...names],
    queryFn: async ({ signal }) =>
      joined(
        await Promise.all(
          portions(names).map(async (column) =>
            data(
              await api.GET("/api/v1/engines/{id}/points", {
                params: { path: { id: engine }, query: { column, count } },
                signal,
              }),
            ),
          ),
        ),
      ),
    enabled: names.length > 0,
    staleTime: Number.POSITIVE_INFINITY, // an engine never learns other runs
    placeholderData: keepPreviousData,
    structuralSharing: false, // comparing 100,000 points with the ones before takes its time
  });
}
