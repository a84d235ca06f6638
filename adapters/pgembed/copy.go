package pgembed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/sirupsen/logrus"
)

// copySettings keep a restored copy of a server apart from it: it archives and sends nothing, and nothing can be written to it. What
// the copied server was configured with is not read, because its files, libraries and memory need not be here.
var copySettings = map[string]string{
	"archive_mode":                  "off",
	"restore_command":               "",
	"hot_standby":                   "off", // so that it accepts no connection before the end of the recovery
	"default_transaction_read_only": "on",
	"autovacuum":                    "off",
	"max_wal_senders":               "0",
	"max_connections":               "20",
	"max_prepared_transactions":     "1000", // those that the log has open
	"allow_in_place_tablespaces":    "on",
}

// StartCopy starts the restored files of a server in CopyFolder(dir), and returns when it has recovered all that the command
// finds. It owns the files from then on, and they are of no use afterwards. If the recovery fails, the error has the end of its
// log.
func StartCopy(ctx context.Context, dir, restoreCommand string, log logrus.FieldLogger) (*Server, error) {
	path := CopyFolder(dir)
	owner, err := chooseOwner(path) // of the files, if a program that runs as root has kept it
	if err != nil {
		return nil, err
	}
	if err := owner.chown(dir); err != nil { // pgBackRest reads the files by their path
		return nil, err
	}
	for name, content := range map[string]string{
		"postgresql.conf":      "",
		"postgresql.auto.conf": "",
		"pg_hba.conf":          "local all all trust\n", // over the socket, which only this user and root can open
		"pg_ident.conf":        "",
		"recovery.signal":      "",
	} {
		// Not the file that a link in a backup may name.
		if err := removeIfExists(filepath.Join(path, name)); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(path, name), []byte(content), 0o600); err != nil {
			return nil, fmt.Errorf("configure the copy: %w", err)
		}
		if err := owner.chown(filepath.Join(path, name)); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"standby.signal", "tablespace_map", pidFileName} {
		if err := removeIfExists(filepath.Join(path, name)); err != nil {
			return nil, err
		}
	}
	settings := map[string]string{}
	for name, value := range copySettings {
		settings[name] = value
	}
	settings["restore_command"] = restoreCommand
	return Start(ctx, Options{Dir: dir, Settings: settings, Log: log})
}

func removeIfExists(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("configure the copy: %w", err)
	}
	return nil
}

// CopyFolder returns the folder for the files of a server that is copied into a data folder.
func CopyFolder(dir string) string { return filepath.Join(dir, clusterName) }

// Version returns the major version of Postgres that wrote files.
func Version(path string) (int, error) { return clusterVersion(path) }

// ProgramOf returns the path of one of the programs of a major version of Postgres. Not every folder with a server has all.
func ProgramOf(major int, name string) (string, error) {
	folders := programFolders(os.Getenv(binEnv), os.Getenv("PATH"), debianFolders)
	for _, dir := range folders {
		path, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if found, ok := programsIn(dir); ok && found.major == major {
			return path, nil
		}
	}
	return "", fmt.Errorf("found no program %s of Postgres %d: install the Debian package postgresql-%d, or set %s to its folder", name, major,
		major, binEnv)
}

// DatabaseURL returns the URL of a database of the server, as a superuser that has the name that initdb gives it.
func (s *Server) DatabaseURL(database string) string {
	return socketURL(s.socketDir, superuser, database)
}

// StopCopy stops a copy at once, because nothing of it is kept.
func (s *Server) StopCopy() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return s.Stop(ctx)
}
