{{/* The pod of the Deployment or StatefulSet. */}}
{{- define "mesh-node.podTemplate" -}}
metadata:
  labels:
    {{- with omit .Values.podLabels "app" "app.kubernetes.io/name" "app.kubernetes.io/instance" }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    app: peat-node
    {{- include "mesh-node.selectorLabels" . | nindent 4 }}
  {{- $key := include "mesh-node.keyValue" . }}
  {{- if or .Values.podAnnotations $key }}
  annotations:
    {{- with $key }}
    # A node reads the key once: another key needs other pods.
    checksum/shared-key: {{ sha256sum . | trunc 16 | quote }}
    {{- end }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
spec:
  serviceAccountName: {{ include "mesh-node.serviceAccountName" . }}
  automountServiceAccountToken: {{ eq .Values.discovery.mode "kubernetes" }}
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- if .Values.hostNetwork }}
  hostNetwork: true
  dnsPolicy: ClusterFirstWithHostNet
  {{- end }}
  securityContext:
    runAsNonRoot: true
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  containers:
    {{- include "mesh-node.containers" . | nindent 4 }}
  {{- with include "mesh-node.volumes" . | trim }}
  volumes:
    {{- . | nindent 4 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
