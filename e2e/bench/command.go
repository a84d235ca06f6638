package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// commandResult is a program that has run to its end.
type commandResult struct {
	output     string
	duration   time.Duration
	peakMemory int64 // its memory at its largest, in bytes
}

// newCommand is a program that ends with ctx, in a session of its own.
func newCommand(ctx context.Context, env []string, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(cleanEnvironment(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	return cmd
}

// runCommand runs a program to its end and returns what it printed.
func runCommand(ctx context.Context, env []string, program string, args ...string) (string, error) {
	done, err := runMeasured(ctx, env, program, args...)
	return done.output, err
}

// memoryPollInterval is how often the memory of a program is looked at. The kernel keeps its
// largest value, so only what it grows by in its very last moment is missed.
const memoryPollInterval = 5 * time.Millisecond

// runMeasured runs a program to its end, and says what that took. What the kernel tells of a
// program that has ended is of no use: it counts the memory of whoever started it.
func runMeasured(ctx context.Context, env []string, program string, args ...string) (commandResult, error) {
	var said, complained strings.Builder
	cmd := newCommand(ctx, env, program, args...)
	cmd.Stdout, cmd.Stderr = &said, &complained
	begin := time.Now()
	err := cmd.Start()
	var done commandResult
	if err == nil {
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		done.peakMemory, err = awaitPeakMemory(cmd.Process.Pid, ended)
	}
	done.output, done.duration = said.String(), time.Since(begin)
	if err != nil {
		return done, fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(program), strings.Join(args, " "), err, done.output, complained.String())
	}
	return done, nil
}

// awaitPeakMemory is the memory of a process at its largest, once it has ended.
func awaitPeakMemory(pid int, ended <-chan error) (peak int64, err error) {
	look := time.NewTicker(memoryPollInterval)
	defer look.Stop()
	for {
		if now, err := memory(pid, "VmHWM"); err == nil { // it may have ended
			peak = max(peak, now)
		}
		select {
		case err := <-ended:
			return peak, err
		case <-look.C:
		}
	}
}

// memoryGrowth is the memory of a running process before something was done, and at its largest
// meanwhile, in bytes.
type memoryGrowth struct{ before, peak int64 }

func (g memoryGrowth) String() string { return formatMB(g.peak) + ", before " + formatMB(g.before) }

// measureMemoryGrowth does something that a running process works at.
func measureMemoryGrowth(pid int, do func() error) (g memoryGrowth, err error) {
	const forgetLargest = "5"
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte(forgetLargest), 0); err != nil {
		return g, err
	}
	if g.before, err = memory(pid, "VmHWM"); err != nil {
		return g, err
	}
	if err := do(); err != nil {
		return g, err
	}
	g.peak, err = memory(pid, "VmHWM")
	return g, err
}
