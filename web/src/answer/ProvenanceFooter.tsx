import { Box, Code, SimpleGrid, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { AnswerView } from "@/api/types";
import { Fold } from "@/show/Fold";
import { errorSentence } from "@/show/modelError";
import { skillWords } from "@/show/skill";
import { count, moment } from "@/show/values";
import classes from "./ProvenanceFooter.module.css";
import { duration, family, times } from "./provenance";

/** Where the answer comes from: quiet, for whoever wants to check or repeat it. */
export function ProvenanceFooter({ view }: { view: AnswerView }) {
  const { provenance, models, seconds } = view.answer;
  const total = Object.values(seconds ?? {}).reduce((sum, one) => sum + one, 0);
  return (
    <Box component="footer" className={classes.footer}>
      <Fold
        title={`Answered ${moment(view.created)} in ${duration(total)}, seed ${provenance.seed}. Where it comes from`}
      >
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="lg">
          <Part title="Data">
            <Pair name="Fingerprint">
              <Code>{provenance.data}</Code>
            </Pair>
            {provenance.sample ? <Pair name="Sample">{provenance.sample}</Pair> : null}
            <Pair name="Seed">{provenance.seed}</Pair>
            <Pair name="Answered">{moment(view.created)}</Pair>
          </Part>
          <Part title={models.length === 1 ? "Model" : "Models"}>
            {models.map((card) => (
              <Pair key={card.target} name={card.target}>
                {family(card)}, learnt from {count(card.rows, "run")}, {errorSentence(card)}.
                {skillWords(card) ? (
                  <Text size="xs" c="dimmed">
                    {skillWords(card)}
                  </Text>
                ) : null}
                {card.notes.map((note) => (
                  <Text key={note} size="xs" c="dimmed">
                    {note}
                  </Text>
                ))}
              </Pair>
            ))}
          </Part>
          <Part title="Time">
            {times(seconds).map(([name, took]) => (
              <Pair key={name} name={name}>
                {took}
              </Pair>
            ))}
          </Part>
          <Part title="Versions">
            {Object.entries(provenance.versions).map(([name, version]) => (
              <Pair key={name} name={name}>
                {version}
              </Pair>
            ))}
          </Part>
        </SimpleGrid>
      </Fold>
    </Box>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <Title order={3} size="h6" mb={4}>
        {title}
      </Title>
      <dl className={classes.pairs}>{children}</dl>
    </div>
  );
}

function Pair({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={classes.pair}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
