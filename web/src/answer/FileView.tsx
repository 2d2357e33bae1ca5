import { Button, Code, Group, Skeleton, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { raw } from "@/api/client";
import { CopyText } from "@/show/CopyText";
import { ProblemNote } from "@/show/ProblemNote";
import { save } from "./save";

interface Props {
  /** A path of the API. */
  path: string;
  name: string;
  label: string;
}

/** A file of the server, shown before it is copied or saved. */
export function FileView({ path, name, label }: Props) {
  const file = useQuery({
    queryKey: ["file", path],
    queryFn: async ({ signal }) => (await raw(path, { signal })).text(),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  if (file.isPending)
    return <Skeleton height={160} role="status" aria-label={`Loading ${label}`} />;
  if (file.error) return <ProblemNote error={file.error} onAgain={() => file.refetch()} />;
  return <TextView text={file.data} name={name} label={label} />;
}

/** A text with ways to take it along. */
export function TextView({ text, name, label }: { text: string; name: string; label: string }) {
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <CopyText text={text} label="Copy" />
        <Button size="xs" variant="default" onClick={() => save(name, text)}>
          Download {name}
        </Button>
      </Group>
      <Code
        block
        tabIndex={0}
        role="region"
        aria-label={label}
        mah={360}
        style={{ overflow: "auto" }}
      >
        {text}
      </Code>
    </Stack>
  );
}
