// Package readme runs the commands of the README as they stand there, on the real
// program. It has nothing but this test.
package readme

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestReadme_CommandsWork(t *testing.T) {
	t.Parallel()
	// Somebody who copies the commands of the README, from top to bottom, has three
	// payments completed, sees what they wrote, and finds the books in order.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	home := startServer(ctx, t)

	shell := exec.CommandContext(ctx, "bash", "-euo", "pipefail")
	shell.Dir, shell.Stdin = home, strings.NewReader(readmeCommands(t))
	out, err := shell.CombinedOutput()

	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for text, times := range map[string]int{
		`"status":"COMPLETED"`: 3, `"code":"INVALID_INPUT"`: 1,
		`delivered +transit/payouts +chains/LAYER2 +\d\.\d{8} +BTC`: 1, `fx/position +trading +250\.000000 +USDC`: 1,
		`All \d+ rules hold\.`: 3, `heads kept outside fit the postings +\d+ +heads +holds`: 2, `Agreed in March`: 1,
	} {
		if got := len(regexp.MustCompile(text).FindAll(out, -1)); got != times {
			t.Errorf("%s appears %d times, want %d, in\n%s", text, got, times, out)
		}
	}
}

// readmeCommands are those of the README that work on a server started before.
func readmeCommands(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)\n```sh\n(.*?)```").FindAllSubmatch(text, -1) {
		if commands := string(block[1]); !strings.Contains(commands, "make run") && !strings.Contains(commands, "causeway serve") {
			script.WriteString(commands)
		}
	}
	return script.String()
}

// startServer runs the program in a folder of its own, as `make run` does, until the test
// ends, and gives the folder.
func startServer(ctx context.Context, t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	binary := filepath.Join(home, "bin", "causeway")
	if err := os.Mkdir(filepath.Dir(binary), 0o755); err != nil {
		t.Fatal(err)
	}
	if built := os.Getenv("CAUSEWAY_BIN"); built != "" {
		if err := os.Symlink(built, binary); err != nil {
			t.Fatal(err)
		}
	} else if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "../../app/causeway").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	server := exec.Command(binary, "dev", "--no-demo", "--listen", "127.0.0.1:0", "--data", ".causeway", "--seal-every", "1s")
	log := &strings.Builder{}
	server.Dir, server.Stderr = home, log
	ready, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		if err := server.Wait(); err != nil || t.Failed() {
			t.Errorf("the server ended with %v and said\n%s", err, log)
		}
	})
	// Its first words come when the credentials are written and it listens.
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		t.Fatalf("the server did not start: %v\n%s", err, log)
	}
	var written struct{ BaseURL string }
	text, err := os.ReadFile(filepath.Join(home, ".causeway", "credentials.json"))
	if err == nil {
		err = json.Unmarshal(text, &written)
	}
	if err != nil || written.BaseURL == "" {
		t.Fatalf("credentials.json: %v, %q", err, written.BaseURL)
	}
	return home
}
