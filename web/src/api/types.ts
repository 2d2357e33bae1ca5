/** The nouns of the server, by the names that its document gives them. */
import type { Readable } from "openapi-typescript-helpers";
import type { components } from "./schema";

/** As the client reads them: pairs of numbers are lists to it. */
type Schemas = { [Name in keyof components["schemas"]]: Readable<components["schemas"][Name]> };

export type About = Schemas["About"];
export type Advice = Schemas["Advice"];
export type Answer = Schemas["Answer"];
export type AnswerInfo = Schemas["AnswerInfo"];
export type AnswerView = Schemas["AnswerView"];
export type Baseline = NonNullable<Schemas["Draft"]["baseline"]>;
export type BestRun = Schemas["BestRun"];
export type CatalogueEntry = Schemas["CatalogueEntry"];
export type Certificate = Schemas["Certificate"];
export type Chat = Schemas["Chat"];
export type ChatBrief = Schemas["ChatBrief"];
export type ColumnChoice = Schemas["ColumnChoice"];
export type ColumnReport = Schemas["ColumnReport"];
export type ColumnsView = Schemas["ColumnsView"];
export type Curve = Schemas["Curve"];
export type CurvePoint = Schemas["CurvePoint"];
export type ContextRuns = Schemas["ContextRuns"];
export type DatasetBrief = Schemas["DatasetBrief"];
export type DatasetInfo = Schemas["DatasetInfo"];
export type Doubt = Schemas["Doubt"];
export type Draft = Schemas["Draft"];
export type Edit = Schemas["Draft"]["change"] extends infer T
  ? NonNullable<T>[keyof NonNullable<T>]
  : never;
export type Effect = Schemas["Effect"];
export type EngineBrief = Schemas["EngineBrief"];
export type EngineInfo = Schemas["EngineInfo"];
export type EvidenceRow = Schemas["EvidenceRow"];
export type Explanation = Schemas["Explanation"];
export type ExperimentInfo = Schemas["ExperimentInfo"];
export type ExperimentReport = Schemas["ExperimentReport"];
export type ExperimentRun = Schemas["ExperimentRun"];
export type ExperimentStatus = Schemas["ExperimentStatus"];
export type Gap = Schemas["Gap"];
export type Goal = Schemas["Draft"]["goals"] extends infer T
  ? NonNullable<T>[keyof NonNullable<T>]
  : never;
export type Importance = Schemas["Importance"];
export type Job = Schemas["Job"];
export type Kind = Schemas["Kind"];
export type Label = Schemas["Label"];
export type LineForecast = Schemas["LineForecast"];
export type LostRuns = Schemas["LostRuns"];
export type Measure = Schemas["Measure"];
export type MachineForecast = Schemas["MachineForecast"];
export type MachinesView = Schemas["MachinesView"];
export type ModelBrief = Schemas["ModelBrief"];
export type ModelInfo = Schemas["ModelInfo"];
export type NewEngine = Schemas["NewEngine"];
export type OutcomeOverview = Schemas["OutcomeOverview"];
export type Overview = Schemas["Overview"];
export type Page = Schemas["Page"];
export type Parameter = Schemas["Space"]["parameters"][number];
export type Pending = Schemas["Pending"];
export type PlatformAnswer = Schemas["PlatformAnswer"];
export type Points = Schemas["Points"];
export type Prediction = Schemas["Prediction"];
export type PredictedWait = Schemas["PredictedWait"];
export type Problem = Schemas["Problem"];
export type Proposal = Schemas["Proposal"];
export type Query = Schemas["Query"];
export type Role = Schemas["Role"];
export type QualityReport = Schemas["QualityReport"];
export type RequestEdit = Schemas["RequestEdit"];
export type RuleView = Schemas["RuleView"];
export type ServerLimits = Schemas["ServerLimits"];
export type Space = Schemas["Space"];
export type Study = Schemas["Study"];
export type Suggestion = Schemas["Suggestion"];
export type SyntheticPage = Schemas["SyntheticPage"];
export type SynthesizerInfo = Schemas["SynthesizerInfo"];
export type TellView = Schemas["TellView"];
export type Trust = Schemas["Trust"];
export type UsageReport = Schemas["UsageReport"];
export type UsageShare = Schemas["UsageShare"];

/** One cell: a number, a label, a truth value, or nothing. */
export type Value = number | string | boolean | null;
export type Config = Record<string, Value>;
