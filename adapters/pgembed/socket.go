package pgembed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	socketPort = "5432" // part of the socket's name, not a network port
	socketName = ".s.PGSQL." + socketPort

	// maxSocketPath is the maximum length of a unix socket path in bytes.
	maxSocketPath = 107

	socketTempDir    = "/tmp"
	socketTempPrefix = "causeway-pg-"
)

// makeSocketFolder returns the folder for the server's socket: the cluster, which other users
// cannot access, or a new private folder if the path would be too long. The server records the
// folder in its PID file.
func (c cluster) makeSocketFolder() (string, error) {
	if len(filepath.Join(c.path, socketName)) <= maxSocketPath {
		return c.path, nil
	}
	dir, err := os.MkdirTemp(socketTempDir, socketTempPrefix) // mode 0700, random name
	if err != nil {
		return "", fmt.Errorf("create a folder for the Postgres socket: %w", err)
	}
	return dir, c.owner.chown(dir)
}

// removeSocketFolder removes a folder created by makeSocketFolder, and nothing else.
func removeSocketFolder(dir string) error {
	if filepath.Dir(dir) != socketTempDir || !strings.HasPrefix(filepath.Base(dir), socketTempPrefix) {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove the folder of the Postgres socket: %w", err)
	}
	return nil
}
