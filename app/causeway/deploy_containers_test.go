package main

import (
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// kubernetesFiles returns the manifests below deployFolder. Whether they are valid is tested in deploy/check.
func kubernetesFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(deployFolder), "kubernetes", func(name string, entry fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".yaml") {
			files = append(files, name)
		}
		return err
	})
	if err != nil || len(files) < 8 {
		t.Fatalf("%q, %v", files, err)
	}
	return files
}

// podSpec is what these tests read of the pods of a workload.
type podSpec struct {
	EnableServiceLinks            *bool `yaml:"enableServiceLinks"`
	TerminationGracePeriodSeconds int   `yaml:"terminationGracePeriodSeconds"`
	SecurityContext               struct {
		RunAsUser string `yaml:"runAsUser"`
	} `yaml:"securityContext"`
	Containers []struct {
		Args  []string
		Env   []struct{ Name, Value string }
		Ports []struct {
			Name          string
			ContainerPort string `yaml:"containerPort"`
		}
		StartupProbe   probe `yaml:"startupProbe"`
		LivenessProbe  probe `yaml:"livenessProbe"`
		ReadinessProbe probe `yaml:"readinessProbe"`
		Lifecycle      struct {
			PreStop struct {
				Sleep struct{ Seconds int }
			} `yaml:"preStop"`
		}
		VolumeMounts []struct {
			Name      string
			MountPath string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
	Volumes []struct {
		Name   string
		Secret struct {
			SecretName string `yaml:"secretName"`
		}
	}
}

type workload struct {
	Spec struct {
		Template struct {
			Metadata struct{ Annotations map[string]string }
			Spec     podSpec
		}
	}
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(readFile(t, deployFolder+file)), into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func TestDeploy_KubernetesFitsProgram(t *testing.T) {
	t.Parallel()
	// The arguments are a command, its secrets are mounted where its settings look for them, it runs as the user of the container, and
	// other services of the namespace set no variables of it.
	container := readFile(t, deployFolder+"Containerfile")
	for file, secret := range map[string]string{"kubernetes/base/deployment.yaml": "causeway",
		"kubernetes/migrate/job.yaml": "causeway-owner"} {
		var w workload
		readYAML(t, file, &w)
		pod := w.Spec.Template.Spec
		args := pod.Containers[0].Args
		for _, env := range pod.Containers[0].Env {
			name, isFile := strings.CutSuffix(env.Name, fileSuffix)
			if !isFile {
				continue
			}
			if path.Dir(env.Value) != pod.Containers[0].VolumeMounts[0].MountPath {
				t.Errorf("%s: %s is not in the mounted secret", file, env.Name)
			}
			args = append(args, "--"+strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, environmentPrefix)), "_", "-"), "a")
		}
		if _, err := newTestParser(t).Parse(args); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if pod.Volumes[0].Secret.SecretName != secret || pod.Volumes[0].Name != pod.Containers[0].VolumeMounts[0].Name {
			t.Errorf("%s mounts %+v", file, pod.Volumes[0])
		}
		if pod.EnableServiceLinks == nil || *pod.EnableServiceLinks {
			t.Errorf("%s has links to services", file)
		}
		if !strings.Contains(container, "\nUSER "+pod.SecurityContext.RunAsUser+":") {
			t.Errorf("%s runs as another user than the container: %s", file, pod.SecurityContext.RunAsUser)
		}
	}
}

func TestDeploy_KubernetesReachesProgram(t *testing.T) {
	t.Parallel()
	// The ports of the containers are those that the program listens on, probes and Prometheus ask for what it serves there, and a
	// process has the time that its stop takes.
	var w workload
	readYAML(t, "kubernetes/base/deployment.yaml", &w)
	pod := w.Spec.Template.Spec.Containers[0]
	ports, listens := map[string]string{}, map[string]string{}
	for _, port := range pod.Ports {
		ports[port.Name] = port.ContainerPort
	}
	for _, env := range pod.Env {
		if _, port, err := net.SplitHostPort(env.Value); err == nil {
			listens[env.Name] = port
		}
	}
	if ports["http"] == "" || ports["http"] != listens["CAUSEWAY_LISTEN"] || ports["admin"] != listens["CAUSEWAY_ADMIN_LISTEN"] {
		t.Errorf("the container has the ports %v, and the program listens on %v", ports, listens)
	}
	annotations := w.Spec.Template.Metadata.Annotations
	for name, asked := range map[string]probe{"startup": pod.StartupProbe, "liveness": pod.LivenessProbe, "readiness": pod.ReadinessProbe,
		"prometheus": {HTTPGet: struct{ Path, Port string }{annotations["prometheus.io/path"], "admin"}}} {
		request := httptest.NewRequest(http.MethodGet, "http://pod"+asked.HTTPGet.Path, nil)
		if _, pattern := new(app).adminHandler().Handler(request); pattern == "" || asked.HTTPGet.Port != "admin" {
			t.Errorf("%s asks for %+v, which the program does not serve", name, asked.HTTPGet)
		}
	}
	if annotations["prometheus.io/port"] != ports["admin"] {
		t.Errorf("Prometheus asks at port %s", annotations["prometheus.io/port"])
	}
	var service struct {
		Spec struct {
			Ports []struct {
				TargetPort string `yaml:"targetPort"`
			}
		}
	}
	readYAML(t, "kubernetes/base/service.yaml", &service)
	if port := service.Spec.Ports[0].TargetPort; port != "http" {
		t.Errorf("the service leads to the port %q", port)
	}
	var policy struct {
		Spec struct {
			Ingress []struct{ Ports []struct{ Port string } }
		}
	}
	readYAML(t, "kubernetes/base/network-policy.yaml", &policy)
	for _, rule := range policy.Spec.Ingress {
		delete(ports, rule.Ports[0].Port)
	}
	if len(policy.Spec.Ingress) != 2 || len(ports) != 0 {
		t.Errorf("the network policy leads to other ports than those of the container: %+v", policy.Spec.Ingress)
	}
	// docs/operating.md says that a process stops within ten seconds.
	if stop := pod.Lifecycle.PreStop.Sleep.Seconds + 10; w.Spec.Template.Spec.TerminationGracePeriodSeconds <= stop {
		t.Errorf("a process has %d seconds to stop, and needs %d", w.Spec.Template.Spec.TerminationGracePeriodSeconds, stop)
	}
}

func TestDeploy_ComposeRunsCommands(t *testing.T) {
	t.Parallel()
	// What the compose files run of the image is a command of the program, and they build and mount what exists.
	container := readFile(t, deployFolder+"Containerfile")
	for _, file := range []string{"compose.yml", "../compose.yaml"} {
		var compose struct {
			Services map[string]struct {
				Image       string
				Command     []string
				Environment map[string]string
				Volumes     []string
				Build       struct{ Context, Dockerfile string }
			}
		}
		readYAML(t, file, &compose)
		commands := 0
		for name, service := range compose.Services {
			if service.Image != "causeway" {
				continue
			}
			commands++
			command := service.Command
			if len(command) == 0 {
				command = []string{"serve", "--master-key", "a"} // CMD of the container
			}
			if service.Environment["DATABASE_URL"] != "" {
				command = append(command, "--database-url", "a")
			}
			if _, err := newTestParser(t).Parse(command); err != nil {
				t.Errorf("%s: %s: %v", file, name, err)
			}
			for _, volume := range service.Volumes {
				_, folder, _ := strings.Cut(volume, ":")
				if !regexp.MustCompile(`COPY --from=build --chown=65532:65532 \S+ ` + folder + `\n`).MatchString(container) {
					t.Errorf("%s: the container has no folder %s", file, folder)
				}
			}
			if build := service.Build; build.Context != "" {
				root := filepath.Join(deployFolder, filepath.Dir(file), build.Context)
				if _, err := os.Stat(filepath.Join(root, build.Dockerfile)); err != nil {
					t.Error(err)
				}
			}
		}
		if commands == 0 {
			t.Errorf("%s runs nothing of the program", file)
		}
	}
}
