package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

const deployFolder = "../../deploy/"

// metricNames returns the metrics that the code defines.
func metricNames(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"*.go", "../../adapters/http/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, match := range regexp.MustCompile(`(?:Name: +|describe\()"(causeway_[a-z_]+)"`).FindAllStringSubmatch(readFile(t, file), -1) {
				names = append(names, match[1])
			}
		}
	}
	if len(names) < 20 {
		t.Fatalf("found %d metrics", len(names))
	}
	return names
}

// metricsIn returns the metrics that a text names, without the suffixes of histograms.
func metricsIn(text string) []string {
	var names []string
	for _, name := range regexp.MustCompile(`\bcauseway_[a-z_]+\b`).FindAllString(text, -1) {
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			name = strings.TrimSuffix(name, suffix)
		}
		names = append(names, name)
	}
	return names
}

func TestDeploy_MetricsExist(t *testing.T) {
	t.Parallel()
	// The alerts and the dashboard use metrics of the code only, and the dashboard and the documents
	// show all of them.
	metrics := metricNames(t)
	dashboard := readFile(t, deployFolder+"grafana-dashboard.json")
	if !json.Valid([]byte(dashboard)) {
		t.Error("the dashboard is not valid JSON")
	}
	for _, name := range metricsIn(readFile(t, deployFolder+"prometheus-rules.yml") + dashboard) {
		if !slices.Contains(metrics, name) {
			t.Errorf("there is no metric %s", name)
		}
	}
	document := metricsIn(readFile(t, "../../docs/operating.md"))
	for _, name := range metrics {
		if !slices.Contains(metricsIn(dashboard), name) {
			t.Errorf("the dashboard does not show %s", name)
		}
		if !slices.Contains(document, name) {
			t.Errorf("docs/operating.md does not explain %s", name)
		}
	}
}

func TestDeploy_AlertsHaveRunbooks(t *testing.T) {
	t.Parallel()
	// Every alert has an expression, a severity, a description and a section of the documents that
	// names it. promtool, if it is installed, accepts the file.
	rules := readFile(t, deployFolder+"prometheus-rules.yml")
	document := readFile(t, "../../docs/operating.md")
	alerts := strings.Split(rules, "- alert: ")[1:]
	if len(alerts) < 10 {
		t.Fatalf("%d alerts", len(alerts))
	}
	for _, alert := range alerts {
		name, _, _ := strings.Cut(alert, "\n")
		for _, line := range []string{`\n        expr: '.+'\n`, `\n        for: \d+[mh]\n`, `\n          severity: (critical|warning)\n`,
			`\n          summary: '.+'\n`, `\n          description: '.+'\n`} {
			if !regexp.MustCompile(line).MatchString(alert) {
				t.Errorf("%s has no line %q", name, line)
			}
		}
		runbook := regexp.MustCompile(`runbook: docs/operating\.md#(\S+)`).FindStringSubmatch(alert)
		if runbook == nil || !slices.Contains(headingAnchors(document), runbook[1]) || !strings.Contains(document, "`"+name+"`") {
			t.Errorf("%s has no section in docs/operating.md: %q", name, runbook)
		}
	}
	if promtool, err := exec.LookPath("promtool"); err == nil {
		if out, err := exec.Command(promtool, "check", "rules", deployFolder+"prometheus-rules.yml").CombinedOutput(); err != nil {
			t.Errorf("promtool: %v\n%s", err, out)
		}
	}
}

func TestDeploy_SettingsExist(t *testing.T) {
	t.Parallel()
	// The files name settings of the program only.
	var known []string
	err := kong.Visit(newTestParser(t).Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			known = append(known, flag.Envs...)
			if isSecret(flag) {
				for _, name := range flag.Envs {
					known = append(known, name+fileSuffix)
				}
			}
		}
		return next(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	files := []string{"causeway.service", "causeway-backup-verify.service", "Containerfile", "compose.yml", "../compose.yaml"}
	for _, file := range append(files, kubernetesFiles(t)...) {
		for _, name := range regexp.MustCompile(`\b(?:CAUSEWAY|DATABASE)_[A-Z_]+\b`).FindAllString(readFile(t, deployFolder+file), -1) {
			found++
			if !slices.Contains(known, name) {
				t.Errorf("%s: there is no setting %s", file, name)
			}
		}
	}
	if found < 8 {
		t.Errorf("found %d settings", found)
	}
}

func TestDeploy_PathsExist(t *testing.T) {
	t.Parallel()
	// What the container is built from is in the repository, the folders that the compose file sets are those of the container for
	// its user, and the comment of the unit says how each file that the unit names is installed.
	container, compose := readFile(t, deployFolder+"Containerfile"), readFile(t, deployFolder+"compose.yml")
	for _, path := range append(regexp.MustCompile(`\./\S+`).FindAllString(container, -1), "go.mod", "go.sum") {
		if _, err := os.Stat(filepath.Join(deployFolder, "..", path)); err != nil {
			t.Error(err)
		}
	}
	mounts := regexp.MustCompile(`(?:CAUSEWAY_CHECKPOINTS: |CAUSEWAY_BLOBS: folder:|"spool:)(/[^"\s]+)`).FindAllStringSubmatch(compose, -1)
	if len(mounts) != 3 {
		t.Errorf("found %d mounts: %q", len(mounts), mounts)
	}
	for _, mount := range mounts {
		if !regexp.MustCompile(`COPY --from=build --chown=65532:65532 \S+ ` + mount[1] + `\n`).MatchString(container) {
			t.Errorf("the container has no folder %s", mount[1])
		}
	}

	comment, unit, _ := strings.Cut(readFile(t, deployFolder+"causeway.service"), "[Unit]")
	named := regexp.MustCompile(`(?m)=(?:-|file://)?(/\S+)`).FindAllStringSubmatch(unit, -1)
	if len(named) < 5 {
		t.Errorf("the unit names %d files", len(named))
	}
	for _, path := range named {
		if !strings.Contains(comment, path[1]) && !strings.Contains(comment, filepath.Dir(path[1])+";") {
			t.Errorf("the comment of the unit does not say how to install %s", path[1])
		}
	}
}

func TestDeploy_UnitIsValid(t *testing.T) {
	t.Parallel()
	// systemd accepts every line of the units.
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	folder := t.TempDir()
	var paths []string
	for _, name := range []string{"causeway.service", "causeway-backup-verify.service", "causeway-backup-verify.timer"} {
		unit := regexp.MustCompile(`(?m)^ExecStart=\S+ `).ReplaceAllString(readFile(t, deployFolder+name), "ExecStart=/bin/true ")
		paths = append(paths, filepath.Join(folder, name))
		if err := os.WriteFile(paths[len(paths)-1], []byte(unit), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	out, err := exec.Command(analyze, append([]string{"verify"}, paths...)...).CombinedOutput()

	if err != nil || strings.Contains(string(out), folder) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestDeploy_BackupIsVerifiedByTimer(t *testing.T) {
	t.Parallel()
	// The command of the unit is one of the program, with flags that it has. As it is, the unit does not have the user of the database's
	// server read the master key.
	unit := readFile(t, deployFolder+"causeway-backup-verify.service")
	if key := regexp.MustCompile(`(?m)^[^#].*MASTER_KEY.*`).FindString(unit); key != "" && strings.Contains(unit, "\nUser=postgres\n") {
		t.Errorf("the user postgres reads the master key: %s", key)
	}
	command := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/causeway (.+)$`).FindStringSubmatch(unit)
	if command == nil {
		t.Fatal("the unit runs nothing")
	}
	if _, err := newTestParser(t).Parse(strings.Fields(command[1])); err != nil {
		t.Error(err)
	}
}
