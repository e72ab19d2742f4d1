package command

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

// deployed returns a file of the folder deploy.
func deployed(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// parse returns the flags of a command line of snow serve, which must be known.
func parse(t *testing.T, args []string) map[string]string {
	t.Helper()
	c, rest, err := (&app{}).root().Find(args)
	if err != nil || c.Name() != "serve" {
		t.Fatalf("%v: %v, %v", args, c.Name(), err)
	}
	if err := c.ParseFlags(rest); err != nil || c.Flags().NArg() > 0 {
		t.Fatalf("%v: %v, %v", args, err, c.Flags().Args())
	}
	values := make(map[string]string)
	for _, name := range []string{"listen", "dsn", "namespace", "worker", "token", "drain", "wait", "timeout"} {
		values[name] = c.Flag(name).Value.String()
	}
	return values
}

// The units have no line that systemd ignores, and flags that snow serve has.
func TestSystemdUnits(t *testing.T) {
	unit := deployed(t, "snow.service")
	_, line, _ := strings.Cut(unit, "\nExecStart=/usr/local/bin/snow ")
	line, _, _ = strings.Cut(line, "\n")
	if flags := parse(t, strings.Fields(line)); flags["listen"] != "systemd" || flags["token"] == "" || flags["namespace"] == "" {
		t.Errorf("flags %v", flags)
	}
	if !strings.Contains(unit, "\nExecReload=/bin/kill -HUP $MAINPID\n") {
		t.Error("a reload does not send SIGHUP")
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		if os.Getenv("SNOW_REQUIRE_DB") == "1" { // make test has installed it
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := t.TempDir()
	verify := []string{"verify", "--man=no"}
	for _, name := range []string{"snow.service", "snow.socket"} {
		text := strings.ReplaceAll(deployed(t, name), "/usr/local/bin/snow", "/bin/true") // which is there
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		verify = append(verify, file)
	}
	out, err := exec.CommandContext(t.Context(), analyze, verify...).CombinedOutput()
	if err != nil || strings.Contains(string(out), dir) { // other units of this machine do not matter
		t.Errorf("%v: %s", err, out)
	}
}

// A manifest is what the test looks at of an object of Kubernetes.
type manifest struct {
	Kind string
	Spec struct {
		Template struct {
			Spec struct {
				Grace      int `yaml:"terminationGracePeriodSeconds"`
				Containers []struct {
					Args []string
					Env  []struct {
						Name string
						From struct {
							Field struct {
								Path string `yaml:"fieldPath"`
							} `yaml:"fieldRef"`
						} `yaml:"valueFrom"`
					}
					Ports     []struct{ Name string }
					Startup   probe `yaml:"startupProbe"`
					Readiness probe `yaml:"readinessProbe"`
					Liveness  probe `yaml:"livenessProbe"`
					Mounts    []struct {
						Path string `yaml:"mountPath"`
					} `yaml:"volumeMounts"`
				}
			}
		}
		Ports []struct {
			Target string `yaml:"targetPort"`
		}
	}
}

type probe struct {
	Get struct{ Path, Port string } `yaml:"httpGet"`
}

// The manifests' flags, paths, ports and times fit snow serve and each other. Package drivers/kubernetes compares them
// with the types of Kubernetes.
func TestKubernetesManifests(t *testing.T) {
	for name, kind := range map[string]string{"kubernetes.yaml": "Deployment", "kubernetes-pinned.yaml": "StatefulSet"} {
		t.Run(name, func(t *testing.T) { checkManifest(t, deployed(t, name), kind) })
	}
}

func checkManifest(t *testing.T, file, kind string) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(file))
	var kinds []string
	for {
		var m manifest
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, m.Kind)
		switch m.Kind {
		case "Service":
			if m.Spec.Ports[0].Target != "http" {
				t.Errorf("the service's port is %+v", m.Spec.Ports)
			}
		case kind:
			pod := m.Spec.Template.Spec
			c := pod.Containers[0]
			const index = "3"
			var pinned string // what the kubelet makes of --worker, on the pod of this index
			for i := range c.Args {
				for _, e := range c.Env {
					if e.From.Field.Path == "metadata.labels['apps.kubernetes.io/pod-index']" && strings.HasPrefix(c.Args[i], "--worker=") {
						c.Args[i], pinned = strings.ReplaceAll(c.Args[i], "$("+e.Name+")", index), index
					}
				}
			}
			flags := parse(t, c.Args)
			if want := map[string]string{"StatefulSet": index}[kind]; pinned != want || want != "" && flags["worker"] != want {
				t.Errorf("worker %s of the index %q, want %q", flags["worker"], pinned, want)
			}
			if flags["listen"] != "0.0.0.0:8017" || flags["namespace"] == "" || c.Ports[0].Name != "http" {
				t.Errorf("flags %v, ports %+v", flags, c.Ports)
			}
			for _, file := range []string{flags["dsn"], flags["token"]} {
				if !strings.HasPrefix(file, "@"+c.Mounts[0].Path+"/") {
					t.Errorf("%s is not in %+v", file, c.Mounts)
				}
			}
			if c.Readiness.Get.Path != "/readyz" || c.Liveness.Get.Path != "/healthz" || c.Startup.Get.Path != "/healthz" || c.Liveness.Get.Port != "http" {
				t.Errorf("probes %+v %+v %+v", c.Startup, c.Readiness, c.Liveness)
			}
			needs := 10 * time.Second // for answers that are under way, see answer
			for _, flag := range []string{"drain", "wait", "timeout"} {
				d, err := time.ParseDuration(flags[flag])
				if err != nil {
					t.Fatal(err)
				}
				needs += d
			}
			if grace := time.Duration(pod.Grace) * time.Second; grace < needs {
				t.Errorf("%v until a pod is killed, and the end may take %v", grace, needs)
			}
		}
	}
	if !slices.Equal(kinds, []string{kind, "Service", "PodDisruptionBudget"}) {
		t.Errorf("kinds %v", kinds)
	}
}

// The image has nothing but the program and the certificates of authorities, and runs it as nobody.
func TestContainerfile(t *testing.T) {
	file := deployed(t, "Containerfile")
	for _, want := range []string{"CGO_ENABLED=0", "\nFROM scratch\n", "/etc/ssl/certs/ca-certificates.crt", "\nUSER 65532:65532\n", `ENTRYPOINT ["/snow"]`} {
		if !strings.Contains(file, want) {
			t.Errorf("no %s in\n%s", want, file)
		}
	}
}
