package backups

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"causeway/core/backup"
)

// pgBackRest are the backups of a stanza.
type pgBackRest struct{ stanza, configuration string }

func (o pgBackRest) args(command string, more ...string) []string {
	args := append([]string{"--stanza=" + o.stanza, "--log-level-console=error", "--log-level-file=off"}, more...)
	if o.configuration != "" {
		args = append(args, "--config="+o.configuration)
	}
	return append(args, command)
}

func (o pgBackRest) output(ctx context.Context, command string, more ...string) ([]byte, error) {
	out, err := output(ctx, "pgbackrest", o.args(command, more...)...)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("the program pgbackrest is not installed: install the package pgbackrest")
	}
	return out, err
}

// stanzaInfo is what pgbackrest info says of a stanza.
type stanzaInfo struct {
	Name    string
	Archive []struct {
		Database stanzaDatabase
		Max      string
	}
	Backup []struct {
		Database  stanzaDatabase
		Label     string
		Error     bool
		Info      struct{ Size int64 }
		Timestamp struct{ Start int64 }
	}
	Status struct {
		Code    int
		Message string
	}
}

// stanzaDatabase is one of the servers that a stanza has had, one after the other: a new initdb begins another.
type stanzaDatabase struct {
	ID         int
	Repository int `json:"repo-key"`
}

// The codes of a stanza that has no backup yet or that the repository does not know.
var stanzaProblems = map[int]string{1: "the stanza does not exist", 2: "the stanza has no backup", 3: "the stanza has no backup"}

func (o pgBackRest) info(ctx context.Context) (stanzaInfo, error) {
	out, err := o.output(ctx, "info", "--output=json")
	if err != nil {
		return stanzaInfo{}, err
	}
	var stanzas []stanzaInfo
	if err := json.Unmarshal(out, &stanzas); err != nil {
		return stanzaInfo{}, fmt.Errorf("pgbackrest info: %w", err)
	}
	for _, s := range stanzas {
		if s.Name == o.stanza {
			return s, nil
		}
	}
	return stanzaInfo{}, fmt.Errorf("pgBackRest has no stanza %s", o.stanza)
}

// list implements origin.
func (o pgBackRest) list(ctx context.Context) ([]backup.Backup, error) {
	stanza, err := o.info(ctx)
	if err != nil {
		return nil, err
	}
	var found []backup.Backup
	for _, b := range stanza.Backup {
		if !b.Error { // its pages had wrong checksums already when they were copied
			found = append(found, backup.Backup{Label: b.Label, Began: time.Unix(b.Timestamp.Start, 0).UTC(), Bytes: b.Info.Size})
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	problem := stanzaProblems[stanza.Status.Code]
	if problem == "" {
		problem = "it has no backup without errors: " + stanza.Status.Message
	}
	return nil, fmt.Errorf("pgBackRest, stanza %s: %s", o.stanza, problem)
}

// copyTo implements origin. pgBackRest compares every file with its checksum, and writes the command that fetches logs.
func (o pgBackRest) copyTo(ctx context.Context, b backup.Backup, folder string) (string, error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	args := append([]string{"--set=" + b.Label, "--pg1-path=" + folder, "--archive-mode=off", "--type=default",
		"--tablespace-map-all=" + filepath.Join(filepath.Dir(folder), "tablespaces")}, resetOptions...)
	if _, err := o.output(ctx, "restore", args...); err != nil {
		return "", err
	}
	settings, err := os.ReadFile(filepath.Join(folder, "postgresql.auto.conf"))
	if err != nil {
		return "", err
	}
	commands := restoreCommands.FindAllSubmatch(settings, -1)
	if len(commands) == 0 {
		return "", errors.New("pgbackrest restore has set no restore_command")
	}
	return strings.ReplaceAll(string(commands[len(commands)-1][1]), "''", "'"), nil // the last one counts
}

// resetOptions are those of a configuration for restoring the server itself: with them the copy would have files elsewhere, perhaps
// those of the server, or be only a part of it.
var resetOptions = []string{"--no-link-all", "--reset-link-map", "--reset-tablespace-map", "--no-delta", "--reset-db-include",
	"--reset-db-exclude", "--reset-recovery-option"}

var restoreCommands = regexp.MustCompile(`(?m)^restore_command\s*=\s*'((?:[^']|'')*)'`)

// archived implements origin: the last log of the server that was backed up.
func (o pgBackRest) archived(ctx context.Context, b backup.Backup) (backup.Segments, error) {
	stanza, err := o.info(ctx)
	if err != nil {
		return nil, err
	}
	return stanza.lastLog(b.Label), nil
}

// lastLog returns the last log of the server of a backup. Those of other servers say nothing about it.
func (s stanzaInfo) lastLog(label string) (last backup.Segments) {
	for _, b := range s.Backup {
		for _, a := range s.Archive {
			if b.Label == label && a.Database == b.Database {
				last = append(last, a.Max)
			}
		}
	}
	return last
}
