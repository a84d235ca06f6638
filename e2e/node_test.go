package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"causeway/e2e/kit"
)

// nodeProgram is a program of the folder node, with the npm packages that it needs.
func nodeProgram(t *testing.T, env []string, args ...string) kit.Command {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is not installed; install it with .ci/need node")
	}
	folder, err := filepath.Abs("node")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal("the npm packages are not installed; install them with make needs-node")
	}
	return kit.Command{Program: node, Args: args, Dir: folder, Env: env}
}

// startNodeServer starts a program of the folder node that prints its URL, which it returns.
func startNodeServer(t *testing.T, env []string, args ...string) string {
	t.Helper()
	server, err := kit.Start(nodeProgram(t, env, args...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	url, err := server.AwaitLine(waitContext(t), func(line string) bool { return strings.HasPrefix(line, "http://") })
	if err != nil {
		t.Fatal(err)
	}
	return url
}
