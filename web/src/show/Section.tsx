import { Box, Group, Text, Title } from "@mantine/core";
import { type ReactNode, useId } from "react";

interface Props {
  title: string;
  /** One sentence below the title. */
  about?: ReactNode;
  /** Beside the title. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A part of the answer with its heading. */
export function Section({ title, about, aside, children }: Props) {
  const id = useId();
  return (
    <Box component="section" aria-labelledby={id}>
      <Group justify="space-between" align="baseline" mb={about ? 2 : "xs"} gap="xs">
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        {aside}
      </Group>
      {about ? (
        <Text size="sm" c="dimmed" mb="sm" maw={720}>
          {about}
        </Text>
      ) : null}
      {children}
    </Box>
  );
}
