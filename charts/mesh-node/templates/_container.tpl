{{/*
For a parent chart: `include` these with the scope of this chart, as in

  {{- include "mesh-node.sidecar" (index .Subcharts "mesh-node") | nindent 8 }}

docs/guides/mesh-node-in-kubernetes.md shows a whole one.
*/}}

{{/* An entry of initContainers that runs beside the containers of the pod, from before their start to after their end. */}}
{{- define "mesh-node.sidecar" -}}
{{- $container := include "mesh-node.container" . | fromYaml }}
{{- list (set $container "restartPolicy" "Always") | toYaml }}
{{- end }}

{{/* The container, for a list of containers. */}}
{{- define "mesh-node.containers" -}}
{{- list (include "mesh-node.container" . | fromYaml) | toYaml }}
{{- end }}

{{/* The volumes that the container mounts. A claim of the same name takes the place of `mesh-node-data`. */}}
{{- define "mesh-node.volumes" -}}
{{- if not (and (eq .Values.kind "StatefulSet") .Values.persistence.enabled) }}
- name: mesh-node-data
  emptyDir: {}
{{- end }}
{{- with include "mesh-node.keySecret" . }}
- name: mesh-node-key
  secret:
    secretName: {{ . }}
    items:
      - key: {{ $.Values.sharedKey.key }}
        path: shared-key
{{- end }}
{{- if hasPrefix "unix://" .Values.listen }}
- name: mesh-node-socket
  emptyDir: {}
{{- end }}
{{- end }}

{{- define "mesh-node.container" -}}
{{- include "mesh-node.check" . -}}
{{- $keySecret := include "mesh-node.keySecret" . }}
{{- $apiPort := include "mesh-node.apiPort" . }}
name: mesh-node
image: {{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
args:
  {{- include "mesh-node.args" . | nindent 2 }}
env:
  - name: POD_NAME
    valueFrom:
      fieldRef:
        fieldPath: metadata.name
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- if or .Values.irohUdpPort (not (include "mesh-node.isLocal" .)) }}
ports:
  {{- if not (include "mesh-node.isLocal" .) }}
  - name: api
    containerPort: {{ $apiPort }}
    protocol: TCP
  {{- end }}
  {{- if .Values.irohUdpPort }}
  - name: iroh-quic
    containerPort: {{ .Values.irohUdpPort }}
    {{- with .Values.irohUdpHostPort }}
    hostPort: {{ . }}
    {{- end }}
    protocol: UDP
  {{- end }}
{{- end }}
# A node that reads a large store answers when it has.
startupProbe:
  {{- include "mesh-node.probe" (dict "scope" . "path" "/readyz") | nindent 2 }}
  periodSeconds: 2
  failureThreshold: 150
livenessProbe:
  {{- include "mesh-node.probe" (dict "scope" . "path" "/healthz") | nindent 2 }}
  periodSeconds: 20
readinessProbe:
  {{- include "mesh-node.probe" (dict "scope" . "path" "/readyz") | nindent 2 }}
  periodSeconds: 10
terminationMessagePolicy: FallbackToLogsOnError
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  capabilities:
    drop: [ALL]
  seccompProfile:
    type: RuntimeDefault
volumeMounts:
  - name: mesh-node-data
    mountPath: {{ .Values.dataDir }}
  {{- if $keySecret }}
  - name: mesh-node-key
    mountPath: /mesh-node-key
    readOnly: true
  {{- end }}
  {{- if hasPrefix "unix://" .Values.listen }}
  - name: mesh-node-socket
    mountPath: {{ trimPrefix "unix://" .Values.listen | dir }}
  {{- end }}
{{- end }}

{{- define "mesh-node.args" -}}
- --listen={{ .Values.listen }}
- --data-dir={{ .Values.dataDir }}
- {{ printf "--app-id=%s" .Values.appId | quote }}
- --iroh-udp-port={{ .Values.irohUdpPort }}
{{- if include "mesh-node.keySecret" . }}
- --shared-key-file=/mesh-node-key/shared-key
{{- end }}
{{- with .Values.nodeId }}
- {{ printf "--node-id=%s" . | quote }}
{{- end }}
{{- range .Values.peers }}
- --peer={{ . }}
{{- end }}
- --discovery-mode={{ .Values.discovery.mode }}
{{- if ne .Values.discovery.mode "none" }}
- --discovery-interval={{ .Values.discovery.interval }}
{{- end }}
{{- if include "mesh-node.isKubernetes" . }}
{{- with .Values.discovery.namespace }}
- --discovery-namespace={{ . }}
{{- end }}
- {{ printf "--discovery-label-selector=%s" .Values.discovery.labelSelector | quote }}
- {{ printf "--discovery-annotation-prefix=%s" .Values.discovery.annotationPrefix | quote }}
{{- if .Values.discovery.publish }}
- --discovery-publish-id=true
{{- end }}
{{- end }}
{{- if ne .Values.logLevel "info" }}
- --log-level={{ .Values.logLevel }}
{{- end }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Asks for a page of the API. The kubelet asks at the pod's address; where nobody listens there, the container asks itself. */}}
{{- define "mesh-node.probe" -}}
{{- $listen := .scope.Values.listen }}
{{- if include "mesh-node.isLocal" .scope }}
{{- $at := printf "host:%q,port:%s" (regexReplaceAll `^tcp://\[?(.*?)\]?:[0-9]+$` $listen "${1}") (include "mesh-node.apiPort" .scope) }}
{{- if hasPrefix "unix://" $listen }}{{ $at = printf "socketPath:%q" (trimPrefix "unix://" $listen) }}{{ end -}}
exec:
  command:
    - /nodejs/bin/node
    - -e
    - require("node:http").get({ {{- $at }},path:{{ quote .path -}} },(a)=>process.exit(a.statusCode===200?0:1)).on("error",()=>process.exit(1))
timeoutSeconds: 5
{{- else -}}
httpGet:
  path: {{ .path }}
  port: api
{{- end }}
{{- end }}
