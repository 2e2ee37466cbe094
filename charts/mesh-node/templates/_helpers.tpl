{{- define "mesh-node.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The pods of a StatefulSet have a label with its name and 11 characters more, of 63 that fit. */}}
{{- define "mesh-node.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "mesh-node.selectorLabels" -}}
app.kubernetes.io/name: {{ include "mesh-node.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "mesh-node.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "mesh-node.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The labels that a Service must have for its EndpointSlices to be discovered, as far as the selector says `key=value`. */}}
{{- define "mesh-node.discoveredLabels" -}}
{{- range splitList "," .Values.discovery.labelSelector }}
{{- if regexMatch `^\s*[^!=\s()]+\s*==?\s*[^!=\s()]+\s*$` . }}
{{- $words := regexSplit `\s*==?\s*` (trim .) 2 }}
{{ first $words | quote }}: {{ last $words | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* Which pods the Services lead to. */}}
{{- define "mesh-node.podSelector" -}}
{{- if eq .Values.kind "Sidecar" }}{{ toYaml .Values.sidecar.selector }}{{ else }}{{ include "mesh-node.selectorLabels" . }}{{ end }}
{{- end }}

{{- define "mesh-node.isKubernetes" -}}
{{- if eq .Values.discovery.mode "kubernetes" }}true{{ end }}
{{- end }}

{{- define "mesh-node.hasServiceAccount" -}}
{{- if and (include "mesh-node.isKubernetes" .) .Values.serviceAccount.create }}true{{ end }}
{{- end }}

{{- define "mesh-node.serviceAccountName" -}}
{{- $made := ternary (include "mesh-node.fullname" .) "default" (eq (include "mesh-node.hasServiceAccount" .) "true") }}
{{- default $made .Values.serviceAccount.name }}
{{- end }}

{{/* A value that was read from a file ends with a line break. */}}
{{- define "mesh-node.keyValue" -}}
{{- trim .Values.sharedKey.value }}
{{- end }}

{{/* The Secret that has the shared key; empty when there is none. */}}
{{- define "mesh-node.keySecret" -}}
{{- $isClosed := and (include "mesh-node.isKubernetes" .) (not .Values.openFormation) }}
{{- if .Values.sharedKey.existingSecret }}
{{- .Values.sharedKey.existingSecret }}
{{- else if or (include "mesh-node.keyValue" .) $isClosed }}
{{- include "mesh-node.fullname" . }}
{{- end }}
{{- end }}

{{- define "mesh-node.apiPort" -}}
{{- if hasPrefix "tcp://" .Values.listen }}{{ .Values.listen | splitList ":" | last }}{{ end }}
{{- end }}

{{/* Whether only the containers of the pod reach the API. */}}
{{- define "mesh-node.isLocal" -}}
{{- if regexMatch `^(unix://|tcp://(127\.|localhost:|\[::1\]))` .Values.listen }}true{{ end }}
{{- end }}

{{- define "mesh-node.check" -}}
{{- $kubernetes := eq .Values.discovery.mode "kubernetes" }}
{{- if and $kubernetes (eq (int .Values.irohUdpPort) 0) }}
{{- fail "discovery.mode kubernetes needs a fixed irohUdpPort: with 0 the Service has no port at which peers could dial a pod" }}
{{- end }}
{{- if and .Values.discovery.publish (not $kubernetes) }}
{{- fail "discovery.publish needs discovery.mode kubernetes: there are no EndpointSlices to write to" }}
{{- end }}
{{- if and (include "mesh-node.keyValue" .) .Values.sharedKey.existingSecret }}
{{- fail "give sharedKey.value or sharedKey.existingSecret, not both" }}
{{- end }}
{{- if and .Values.openFormation (or (include "mesh-node.keyValue" .) .Values.sharedKey.existingSecret) }}
{{- fail "openFormation is without a shared key: give one of the two" }}
{{- end }}
{{- if and .Values.openFormation $kubernetes (not .Values.discovery.publish) }}
{{- fail "openFormation in discovery.mode kubernetes needs discovery.publish: without a shared key no id can be derived" }}
{{- end }}
{{- if not (regexMatch `^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}(==)?|[A-Za-z0-9+/]{3}=?)?$` (include "mesh-node.keyValue" .)) }}
{{- fail "sharedKey.value is not base64; make one with: head -c 32 /dev/urandom | base64" }}
{{- end }}
{{- if and .Values.nodeId (gt (int .Values.replicas) 1) }}
{{- fail "nodeId would be the name of every replica: leave it out, or set replicas to 1" }}
{{- end }}
{{- if and (eq .Values.kind "Sidecar") (not .Values.sidecar.selector) }}
{{- fail "kind Sidecar needs sidecar.selector, the labels of the pods that have the container" }}
{{- end }}
{{- if and .Values.service.enabled (include "mesh-node.isLocal" .) }}
{{- fail "service.enabled needs a listen address that other pods reach, such as tcp://0.0.0.0:50051" }}
{{- end }}
{{- end }}
