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

	// maxSocketPath is how many bytes the kernel takes for the path of a socket.
	maxSocketPath = 107

	socketTempDir    = "/tmp"
	socketTempPrefix = "causeway-pg-"
)

// makeSocketFolder decides where the server's socket lies: in the cluster, which
// is closed to others; or, when that makes too long a path, in a folder of its
// own that is just as closed. The server notes where, so others can find it.
func (c cluster) makeSocketFolder() (string, error) {
	if len(filepath.Join(c.path, socketName)) <= maxSocketPath {
		return c.path, nil
	}
	dir, err := os.MkdirTemp(socketTempDir, socketTempPrefix) // mode 0700, a name nobody can foresee
	if err != nil {
		return "", fmt.Errorf("make a folder for the Postgres socket: %w", err)
	}
	return dir, c.owner.chown(dir)
}

// removeSocketFolder removes a folder that makeSocketFolder made; any other path
// is left alone.
func removeSocketFolder(dir string) error {
	if filepath.Dir(dir) != socketTempDir || !strings.HasPrefix(filepath.Base(dir), socketTempPrefix) {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove the folder of the Postgres socket: %w", err)
	}
	return nil
}
