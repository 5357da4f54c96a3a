{{- define "vivero.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "vivero.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "vivero.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "vivero.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "vivero.selector" -}}
app.kubernetes.io/name: {{ include "vivero.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "vivero.labels" -}}
{{ include "vivero.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "vivero.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}

{{/* The security of each pod: no root, no new rights, nothing written but /tmp. */}}
{{- define "vivero.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "vivero.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* The settings whose values are in secrets: a file for each. */}}
{{- define "vivero.secretEnv" -}}
{{- range .Values.secrets }}
- {name: {{ .setting }}_FILE, value: /run/secrets/vivero/{{ .setting }}}
{{- end }}
{{- end -}}

{{/* The content of a ConfigMap with the settings file. */}}
{{- define "vivero.settings" -}}
vivero.toml: |
  {{- .Values.settings | nindent 2 }}
{{- end -}}

{{- define "vivero.secretVolume" -}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- range .Values.secrets }}
      - secret: {name: {{ .secret }}, items: [{key: {{ .key }}, path: {{ .setting }}}]}
      {{- end }}
{{- end -}}
