import { JobProgress } from "./JobProgress";

interface Props {
  title: string;
  /** What is being done, as far as it is known. */
  stage: string;
  onCancel: () => void;
}

/** Work of unknown length that a request waits for, with a way to end it. */
export function Working({ title, stage, onCancel }: Props) {
  const job = { state: "running", stage, done: 0, total: 0 } as const;
  return <JobProgress job={job} title={title} onCancel={onCancel} />;
}
