package kubernetes_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	yamlreader "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// indexLabel is set by the controller of StatefulSets, and by nobody for other pods.
const indexLabel = "apps.kubernetes.io/pod-index"

// A workload is what Deployments and StatefulSets have in common.
type workload struct {
	metav1.ObjectMeta
	kind     string
	service  string // of a StatefulSet
	selector *metav1.LabelSelector
	template corev1.PodTemplateSpec
}

// A manifest is the objects of a file.
type manifest struct {
	workloads []workload
	services  []corev1.Service
	budgets   []policyv1.PodDisruptionBudget
}

// read decodes a file as the API server does with --validate=strict: no unknown field, no field twice, no wrong type.
func read(file []byte) (*manifest, error) {
	m := &manifest{}
	documents := yamlreader.NewYAMLReader(bufio.NewReader(bytes.NewReader(file)))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return nil, err
		}
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(text, &kind); err != nil {
			return nil, err
		}
		switch kind.APIVersion + " " + kind.Kind {
		case "apps/v1 Deployment":
			var o appsv1.Deployment
			err = strictly(text, &o)
			m.workloads = append(m.workloads, workload{o.ObjectMeta, o.Kind, "", o.Spec.Selector, o.Spec.Template})
		case "apps/v1 StatefulSet":
			var o appsv1.StatefulSet
			err = strictly(text, &o)
			m.workloads = append(m.workloads, workload{o.ObjectMeta, o.Kind, o.Spec.ServiceName, o.Spec.Selector, o.Spec.Template})
		case "v1 Service":
			var o corev1.Service
			err = strictly(text, &o)
			m.services = append(m.services, o)
		case "policy/v1 PodDisruptionBudget":
			var o policyv1.PodDisruptionBudget
			err = strictly(text, &o)
			m.budgets = append(m.budgets, o)
		default:
			return nil, fmt.Errorf("unknown object %q of %q", kind.Kind, kind.APIVersion)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.Kind, err)
		}
	}
}

// strictly decodes an object. Unlike encoding/json, it finds that servicename is not serviceName.
func strictly(text []byte, into any) error {
	document, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return err
	}
	strict, err := json.UnmarshalStrict(document, into)
	return errors.Join(append(strict, err)...)
}

// problems returns what the API server refuses, and what would only be noticed when pods run.
func (m *manifest) problems() (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, w := range m.workloads {
		for _, p := range slices.Concat(named(w.ObjectMeta), w.pod()) {
			add("%s %s: %s", w.kind, w.Name, p)
		}
		if !selects(w.selector, w.template.Labels) {
			add("%s %s: the selector does not match the labels of its pods", w.kind, w.Name)
		}
		if w.kind == "StatefulSet" && !slices.ContainsFunc(m.services, func(s corev1.Service) bool { return s.Name == w.service }) {
			add("StatefulSet %s: there is no service %q", w.Name, w.service)
		}
	}
	for _, s := range m.services {
		for _, p := range named(s.ObjectMeta) {
			add("Service %s: %s", s.Name, p)
		}
		pods := m.pods(&metav1.LabelSelector{MatchLabels: s.Spec.Selector})
		if len(s.Spec.Selector) == 0 || len(pods) != 1 {
			add("Service %s: it selects the pods of %d workloads, want 1", s.Name, len(pods))
			continue
		}
		for _, port := range s.Spec.Ports {
			if !hasPort(pods[0].template.Spec.Containers, port.TargetPort) {
				add("Service %s: no container has the port %s", s.Name, port.TargetPort.String())
			}
		}
	}
	for _, b := range m.budgets {
		if n := len(m.pods(b.Spec.Selector)); n != 1 {
			add("PodDisruptionBudget %s: it selects the pods of %d workloads, want 1", b.Name, n)
		}
	}
	return all
}

// pods returns the workloads whose pods a selector matches.
func (m *manifest) pods(by *metav1.LabelSelector) (all []workload) {
	for _, w := range m.workloads {
		if selects(by, w.template.Labels) {
			all = append(all, w)
		}
	}
	return all
}

func selects(by *metav1.LabelSelector, of map[string]string) bool {
	s, err := metav1.LabelSelectorAsSelector(by) // a selector that is missing matches nothing
	return err == nil && s.Matches(labels.Set(of))
}

// named returns what is wrong with a name and labels.
func named(o metav1.ObjectMeta) (all []string) {
	all = validation.IsDNS1035Label(o.Name)
	for _, key := range slices.Sorted(maps.Keys(o.Labels)) {
		all = slices.Concat(all, validation.IsQualifiedName(key), validation.IsValidLabelValue(o.Labels[key]))
	}
	return all
}

var reference = regexp.MustCompile(`\$\(([^)]*)\)`)

// pod returns what is wrong with the pods of w.
func (w *workload) pod() (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	spec := &w.template.Spec
	if spec.TerminationGracePeriodSeconds == nil || *spec.TerminationGracePeriodSeconds < 10 {
		add("no time to end in")
	}
	if len(spec.Containers) == 0 {
		add("no containers")
	}
	volumes := map[string]bool{}
	for _, v := range spec.Volumes {
		volumes[v.Name] = true
	}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		if c.Image == "" || len(validation.IsDNS1123Label(c.Name)) > 0 {
			add("container %q has no image or no name", c.Name)
		}
		for _, p := range c.Ports {
			all = slices.Concat(all, validation.IsValidPortNum(int(p.ContainerPort)))
			if p.Name != "" {
				all = slices.Concat(all, validation.IsValidPortName(p.Name))
			}
		}
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] || !strings.HasPrefix(m.MountPath, "/") {
				add("mount %q has no volume, or no path", m.Name)
			}
		}
		all = slices.Concat(all, w.env(c), probed(c))
	}
	return all
}

// env returns what is wrong with variables, and with arguments that name one. The kubelet does not replace a $(NAME)
// that it does not know.
func (w *workload) env(c *corev1.Container) (all []string) {
	known := map[string]bool{}
	for _, e := range c.Env {
		all = append(all, validation.IsEnvVarName(e.Name)...)
		known[e.Name] = true
		if e.ValueFrom == nil || e.ValueFrom.FieldRef == nil {
			continue
		}
		switch path := e.ValueFrom.FieldRef.FieldPath; {
		case path == "metadata.name", path == "metadata.namespace", path == "metadata.uid", path == "spec.nodeName", path == "status.podIP":
		case path == "metadata.labels['"+indexLabel+"']":
			if w.kind != "StatefulSet" {
				all = append(all, "only pods of a StatefulSet have the label "+indexLabel)
			}
		default:
			all = append(all, fmt.Sprintf("variable %s: no field %q", e.Name, path))
		}
	}
	for _, arg := range slices.Concat(c.Command, c.Args) {
		for _, name := range reference.FindAllStringSubmatch(arg, -1) {
			if !known[name[1]] {
				all = append(all, fmt.Sprintf("argument %q: no variable %q", arg, name[1]))
			}
		}
	}
	return all
}

// probed returns what is wrong with probes.
func probed(c *corev1.Container) (all []string) {
	for name, p := range map[string]*corev1.Probe{"startup": c.StartupProbe, "readiness": c.ReadinessProbe, "liveness": c.LivenessProbe} {
		switch {
		case p == nil || p.HTTPGet == nil:
			all = append(all, "no "+name+" probe")
		case !strings.HasPrefix(p.HTTPGet.Path, "/"):
			all = append(all, fmt.Sprintf("the %s probe has the path %q", name, p.HTTPGet.Path))
		case !hasPort([]corev1.Container{*c}, p.HTTPGet.Port):
			all = append(all, fmt.Sprintf("the %s probe has the port %s, which the container has not", name, p.HTTPGet.Port.String()))
		}
	}
	slices.Sort(all)
	return all
}

func hasPort(of []corev1.Container, port intstr.IntOrString) bool {
	return slices.ContainsFunc(of, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
			return port.Type == intstr.String && p.Name == port.StrVal || port.Type == intstr.Int && p.ContainerPort == port.IntVal
		})
	})
}
