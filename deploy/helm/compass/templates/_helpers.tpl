{{- define "compass.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "compass.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "compass.labels" -}}
{{ include "compass.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "compass.tokenSecret" -}}
{{- .Values.token.existingSecret | default (printf "%s-token" (include "compass.name" .)) -}}
{{- end -}}

{{- define "compass.claim" -}}
{{- .Values.persistence.existingClaim | default (include "compass.name" .) -}}
{{- end -}}

{{- /* What cannot be: told before anything is installed. */ -}}
{{- define "compass.check" -}}
{{- with .Values -}}
{{- if and .users.header (not .users.proxies) -}}
{{- fail "users.header needs users.proxies: who may say who somebody is" -}}
{{- end -}}
{{- if and .users.header (not .networkPolicy.enabled) -}}
{{- fail "users.header needs networkPolicy.enabled: else every pod of the cluster could say who it is" -}}
{{- end -}}
{{- if and .users.groupsHeader (not .users.header) -}}
{{- fail "users.groupsHeader is of users: set users.header" -}}
{{- end -}}
{{- if and .users.operators (not .users.header) (not .oidc.issuer) -}}
{{- fail "users.operators are users: set users.header or oidc.issuer" -}}
{{- end -}}
{{- if ne (empty .oidc.issuer) (empty .oidc.audience) -}}
{{- fail "oidc.issuer and oidc.audience belong together" -}}
{{- end -}}
{{- if and (gt (int .replicas) 1) (not .store.existingSecret) -}}
{{- fail "replicas above 1 need store.existingSecret: a state of files has one server" -}}
{{- end -}}
{{- if and .store.existingSecret (not .persistence.enabled) -}}
{{- fail "store.existingSecret needs persistence: the files belong to the database" -}}
{{- end -}}
{{- if and (gt (int .replicas) 1) (not .persistence.existingClaim) (not (has "ReadWriteMany" .persistence.accessModes)) -}}
{{- fail "replicas above 1 need persistence.accessModes: [ReadWriteMany]" -}}
{{- end -}}
{{- if and .networkPolicy.enabled (not .networkPolicy.from) -}}
{{- fail "networkPolicy.enabled needs networkPolicy.from: who may reach the pods" -}}
{{- end -}}
{{- if and .ingress.enabled (not .ingress.host) -}}
{{- fail "ingress.enabled needs ingress.host" -}}
{{- end -}}
{{- end -}}
{{- end -}}
