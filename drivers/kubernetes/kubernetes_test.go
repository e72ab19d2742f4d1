// Package kubernetes_test validates the manifests of this repository, with the types of Kubernetes itself.
package kubernetes_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	leased = "../../deploy/kubernetes.yaml"
	pinned = "../../deploy/kubernetes-pinned.yaml"
	page   = "../../docs/kubernetes.md"
)

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// judge returns what is wrong with a file.
func judge(file string) []string {
	m, err := read([]byte(file))
	if err != nil {
		return []string{err.Error()}
	}
	return m.problems()
}

func TestManifests(t *testing.T) {
	for path, kind := range map[string]string{leased: "Deployment", pinned: "StatefulSet"} {
		file := text(t, path)
		for _, problem := range judge(file) {
			t.Errorf("%s: %s", path, problem)
		}
		if m, err := read([]byte(file)); err != nil || len(m.workloads) != 1 || m.workloads[0].kind != kind || len(m.services) != 1 || len(m.budgets) != 1 {
			t.Errorf("%s: %+v, %v; want a %s, a service and a budget", path, m, err, kind)
		}
	}
}

// The manifest on the page is complete, and its parts of others are in them.
func TestPage(t *testing.T) {
	whole, part := 0, 0
	file := text(t, pinned)
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(text(t, page), -1) {
		if strings.HasPrefix(block[1], "apiVersion:") {
			whole++
			for _, problem := range judge(block[1]) {
				t.Errorf("the page: %s", problem)
			}
			continue
		}
		part++
		for line := range strings.Lines(block[1]) {
			if !strings.Contains(file, strings.TrimSpace(line)+"\n") {
				t.Errorf("%s has no line %q", pinned, line)
			}
		}
	}
	if whole != 1 || part != 1 {
		t.Errorf("the page has %d manifests and %d parts, want 1 and 1", whole, part)
	}
}

// Each mistake is found.
func TestMistakes(t *testing.T) {
	for _, mistake := range []struct{ path, old, new, want string }{
		{pinned, "serviceName:", "servicename:", `unknown field "spec.servicename"`},
		{pinned, "replicas: 3", "replicas: three", "cannot unmarshal string"},
		{pinned, "replicas: 3", "replicas: 3\n  replicas: 4", `key "replicas" already set`},
		{pinned, "apps/v1", "apps/v2", `unknown object "StatefulSet" of "apps/v2"`},
		{pinned, "serviceName: snow-pinned", "serviceName: snow", `there is no service "snow"`},
		{pinned, "matchLabels: {app: snow-pinned}", "matchLabels: {app: snow}", "the selector does not match"},
		{pinned, "name: POD_INDEX", "name: POD_ORDINAL", `no variable "POD_INDEX"`},
		{pinned, "apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-index", "variable POD_INDEX: no field"},
		{pinned, "kind: StatefulSet", "kind: Deployment", `unknown field "spec.podManagementPolicy"`},
		{pinned, "path: /readyz, port: http", "path: /readyz, port: web", "the readiness probe has the port web"},
		{pinned, "path: /readyz", "path: readyz", `the readiness probe has the path "readyz"`},
		{pinned, "containerPort: 8017", "containerPort: 80170", "must be between 1 and 65535"},
		{pinned, "terminationGracePeriodSeconds: 40", "terminationGracePeriodSeconds: 4", "no time to end in"},
		{pinned, "clusterIP: None\n  selector: {app: snow-pinned}", "clusterIP: None\n  selector: {app: snow}", "it selects the pods of 0 workloads"},
		{pinned, "targetPort: http", "targetPort: 80", "no container has the port 80"},
		{pinned, "- name: secrets\n          secret", "- name: secret\n          secret", `mount "secrets" has no volume`},
		{pinned, "name: snow-pinned\n  labels", "name: snow_pinned\n  labels", "a DNS-1035 label must"},
		{leased, "image: registry.example.com/snow:0.1.0", `image: ""`, "has no image"},
		{leased, "maxUnavailable: 1\n  selector:\n    matchLabels: {app: snow}", "maxUnavailable: 1", "it selects the pods of 0 workloads"},
		{
			leased, "ports: [{name: http, containerPort: 8017}]",
			"ports: [{name: http, containerPort: 8017}]\n          env: [{name: INDEX, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['" + indexLabel + "']\"}}}]",
			"only pods of a StatefulSet have the label",
		},
	} {
		file := text(t, mistake.path)
		if strings.Count(file, mistake.old) == 0 {
			t.Errorf("%s has no %q", mistake.path, mistake.old)
		}
		got := judge(strings.Replace(file, mistake.old, mistake.new, 1))
		if !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, mistake.want) }) {
			t.Errorf("%q in place of %q: got %q, want %q", mistake.new, mistake.old, got, mistake.want)
		}
	}
}
