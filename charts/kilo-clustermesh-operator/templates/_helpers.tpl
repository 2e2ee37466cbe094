{{- define "operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The Go operator's rule: a release is upgraded in place only if every name comes out as it was. */}}
{{- define "operator.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "operator.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "operator.subjects" -}}
- kind: ServiceAccount
  name: {{ include "operator.serviceAccountName" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{/* The port of `:8080` or `127.0.0.1:8080`; empty for `0`, which means off. */}}
{{- define "operator.metricsPort" -}}
{{- if ne (toString .Values.metricsBindAddress) "0" }}{{ toString .Values.metricsBindAddress | splitList ":" | last }}{{ end }}
{{- end }}
{{- define "operator.healthPort" -}}
{{- if ne (toString .Values.healthProbeBindAddress) "0" }}{{ toString .Values.healthProbeBindAddress | splitList ":" | last }}{{ end }}
{{- end }}

{{/* Reading just the Secrets that meshes name needs list and watch: RBAC takes a metadata.name selector for the name. */}}
{{- define "operator.secretRule" -}}
- apiGroups: [""]
  resources: [secrets]
  {{- with .Values.secretNames }}
  resourceNames: {{ toJson . }}
  {{- end }}
  verbs: [list, watch]
{{- end }}

{{- define "operator.check" -}}
{{- if not (and .Values.crd .Values.nodeKeepalive .Values.service) }}
{{- fail "these are the values of another chart, without this chart's defaults: use --reset-then-reuse-values instead of --reuse-values" }}
{{- end }}
{{- if eq .Values.image.repository "ghcr.io/cozystack/kilo-clustermesh-operator" }}
{{- fail "image.repository is the Go operator's image, which is another program: leave it out, and image.tag too" }}
{{- end }}
{{- if and (gt (int .Values.replicaCount) 1) (not .Values.leaderElect) }}
{{- fail "replicaCount above 1 needs leaderElect: true, or all of them would write at once" }}
{{- end }}
{{- if and .Values.metricsSecure (include "operator.metricsPort" .) (not .Values.metricsCertSecret) }}
{{- fail "metricsSecure needs metricsCertSecret, a Secret of type kubernetes.io/tls" }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled (not (and .Values.service.enabled (include "operator.metricsPort" .))) }}
{{- fail "serviceMonitor.enabled needs service.enabled and a metricsBindAddress" }}
{{- end }}
{{- end }}
