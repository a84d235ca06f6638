package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// The yardstick is Postgres' own benchmark: TPC-B-like transactions of five
// statements, prepared. The scale must be at least the number of clients: each
// transaction updates one of as many branches, and with fewer than clients they
// would queue for rows instead of for the machine.
const (
	pgbenchClients = 8
	pgbenchThreads = 2
	pgbenchScale   = 10
)

const pgbenchDatabase = "yardstick"

type pgbench struct{ program, url string }

// newPgbench fills a database with the rows that pgbench works on.
func newPgbench(ctx context.Context, url string) (pgbench, error) {
	program, err := findPostgresProgram("pgbench")
	if err != nil {
		return pgbench{}, err
	}
	_, err = runCommand(ctx, nil, program, "--initialize", "--quiet", "--scale", strconv.Itoa(pgbenchScale), url)
	return pgbench{program, url}, err
}

// run runs pgbench and returns its transactions per second.
func (y pgbench) run(ctx context.Context, seconds int) (float64, error) {
	said, err := runCommand(ctx, nil, y.program, "--protocol=prepared", "--client", strconv.Itoa(pgbenchClients),
		"--jobs", strconv.Itoa(pgbenchThreads), "--time", strconv.Itoa(seconds), y.url)
	if err != nil {
		return 0, err
	}
	return parseTPS(said)
}

var tpsPattern = regexp.MustCompile(`(?m)^tps = ([0-9.]+) `)

// parseTPS reads "tps = 7061.4 (without initial connection time)".
func parseTPS(said string) (float64, error) {
	found := tpsPattern.FindStringSubmatch(said)
	if found == nil {
		return 0, fmt.Errorf("pgbench says no tps:\n%s", said)
	}
	return strconv.ParseFloat(found[1], 64)
}

// findPostgresProgram finds a program of Postgres: where the setting says, in PATH, or
// where Debian puts them, newest first.
func findPostgresProgram(name string) (string, error) {
	if dir := os.Getenv("CAUSEWAY_POSTGRES_BIN"); dir != "" {
		return exec.LookPath(filepath.Join(dir, name))
	}
	if program, err := exec.LookPath(name); err == nil {
		return program, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // errs on a bad pattern only
	if len(found) == 0 {
		return "", fmt.Errorf("there is no %s: install the Debian package postgresql", name)
	}
	return slices.Max(found), nil
}
