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
	yardstickClients = 8
	yardstickThreads = 2
	yardstickScale   = 10
)

const yardstickDatabase = "yardstick"

type yardstick struct{ program, url string }

// newYardstick fills a database with the rows that pgbench works on.
func newYardstick(ctx context.Context, url string) (yardstick, error) {
	program, err := postgresProgram("pgbench")
	if err != nil {
		return yardstick{}, err
	}
	_, err = output(ctx, nil, program, "--initialize", "--quiet", "--scale", strconv.Itoa(yardstickScale), url)
	return yardstick{program, url}, err
}

// measure runs pgbench and returns its transactions per second.
func (y yardstick) measure(ctx context.Context, seconds int) (float64, error) {
	said, err := output(ctx, nil, y.program, "--protocol=prepared", "--client", strconv.Itoa(yardstickClients),
		"--jobs", strconv.Itoa(yardstickThreads), "--time", strconv.Itoa(seconds), y.url)
	if err != nil {
		return 0, err
	}
	return parseYardstick(said)
}

var yardstickLine = regexp.MustCompile(`(?m)^tps = ([0-9.]+) `)

// parseYardstick reads "tps = 7061.4 (without initial connection time)".
func parseYardstick(said string) (float64, error) {
	found := yardstickLine.FindStringSubmatch(said)
	if found == nil {
		return 0, fmt.Errorf("pgbench says no tps:\n%s", said)
	}
	return strconv.ParseFloat(found[1], 64)
}

// postgresProgram finds a program of Postgres: where the setting says, in PATH, or
// where Debian puts them, newest first.
func postgresProgram(name string) (string, error) {
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
