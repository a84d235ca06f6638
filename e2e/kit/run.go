package kit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Result is a program that has run to its end.
type Result struct {
	Output, ErrorOutput string
	ExitCode            int
	Duration            time.Duration
	PeakMemory          int64 // of its own, in bytes; 0 after Prepare
}

// memoryPollInterval is how often the memory of a program is read. The kernel keeps the
// maximum, so only growth in the last moment is missed.
const memoryPollInterval = 5 * time.Millisecond

// measuresMemory is whether Run reads the memory of programs, which takes a part of the time of short ones.
var measuresMemory = true

// Run runs a program to its end. It returns an error if the program cannot be run or ctx
// ends first; an exit status other than 0 is no error.
func Run(ctx context.Context, c Command) (Result, error) {
	cmd := exec.CommandContext(ctx, c.Program, c.Args...)
	cmd.Env, cmd.Dir = append(CleanEnv(), c.Env...), c.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: c.User}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 15 * time.Second
	var output, errorOutput bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &errorOutput
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return Result{}, fmt.Errorf("run %s: %w", c, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var peak int64
	var err error
	if measuresMemory {
		peak, err = awaitPeakMemory(cmd.Process.Pid, ended)
	} else {
		err = <-ended
	}
	result := Result{output.String(), errorOutput.String(), cmd.ProcessState.ExitCode(), time.Since(start), peak}
	if exit := new(exec.ExitError); ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		return result, fmt.Errorf("run %s: %w\n%s%s", c, errors.Join(err, context.Cause(ctx)), result.Output, result.ErrorOutput)
	}
	return result, nil
}

// MustSucceed is Run, and returns an error with the output if the exit status is not 0.
func MustSucceed(ctx context.Context, c Command) (Result, error) {
	result, err := Run(ctx, c)
	if err == nil && result.ExitCode != 0 {
		err = fmt.Errorf("%s: exit status %d\n%s%s", c, result.ExitCode, result.Output, result.ErrorOutput)
	}
	return result, err
}

// awaitPeakMemory returns the maximum memory of a process once it has ended. What the
// kernel reports of a process that has ended cannot be used: it includes its parent.
func awaitPeakMemory(pid int, ended <-chan error) (peak int64, err error) {
	poll := time.NewTicker(memoryPollInterval)
	defer poll.Stop()
	for {
		if now, err := OwnPeakMemory(pid); err == nil { // it may have ended
			peak = max(peak, now)
		}
		select {
		case err := <-ended:
			return peak, err
		case <-poll.C:
		}
	}
}

// OwnPeakMemory returns the maximum that a process had of its own memory. The pages of its program's file are left out: the kernel
// drops them when it needs memory, and how many it maps beside the one that is used differs from kernel to kernel.
func OwnPeakMemory(pid int) (int64, error) {
	peak, err := Memory(pid, "VmHWM")
	file, fileErr := Memory(pid, "RssFile")
	return peak - file, errors.Join(err, fileErr)
}

// Memory reads a field of /proc/<pid>/status, such as VmRSS or VmHWM (the maximum), in bytes.
func Memory(pid int, field string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut("\n"+string(text), "\n"+field+":")
	line, _, _ := strings.Cut(rest, "\n")
	kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(line), " kB"), 10, 64)
	if !found || err != nil {
		return 0, fmt.Errorf("/proc/%d/status has no %s", pid, field)
	}
	return kilobytes << 10, nil
}

// Build returns the program that CAUSEWAY_BIN names, or builds it. The caller calls remove
// when it is not needed any more.
func Build() (path string, remove func(), err error) {
	if path = os.Getenv("CAUSEWAY_BIN"); path != "" {
		return path, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "causeway-e2e-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	path = filepath.Join(dir, "causeway")
	if output, err := exec.Command("go", "build", "-o", path, "causeway/app/causeway").CombinedOutput(); err != nil {
		remove()
		return "", nil, fmt.Errorf("go build: %w\n%s", err, output)
	}
	return path, remove, nil
}

// Credentials are what platform create prints and the data folder of dev contains.
type Credentials struct{ PlatformID, ClientID, ClientSecret, BaseURL string }

// CreatePlatform creates a platform in a database that has been migrated.
func CreatePlatform(ctx context.Context, binary, databaseURL, name, environment string, flags ...string) (created Credentials, err error) {
	args := append([]string{"platform", "create", "--name", name, "--environment", environment}, flags...)
	result, err := MustSucceed(ctx, Command{Program: binary, Args: args, Env: []string{"DATABASE_URL=" + databaseURL}})
	if err != nil {
		return created, err
	}
	if err := json.Unmarshal([]byte(result.Output), &created); err != nil {
		return created, fmt.Errorf("read the credentials that platform create printed: %w", err)
	}
	return created, nil
}
