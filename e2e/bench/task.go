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

// task is a program that has run to its end.
type task struct {
	said string
	took time.Duration
	peak int64 // its memory at its largest, in bytes
}

// command is a program that ends with ctx, in a session of its own.
func command(ctx context.Context, env []string, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(environment(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = graceful
	return cmd
}

// output runs a program to its end and returns what it printed.
func output(ctx context.Context, env []string, program string, args ...string) (string, error) {
	done, err := perform(ctx, env, program, args...)
	return done.said, err
}

// watchEvery is how often the memory of a program is looked at. The kernel keeps its
// largest value, so only what it grows by in its very last moment is missed.
const watchEvery = 5 * time.Millisecond

// perform runs a program to its end, and says what that took. What the kernel tells of a
// program that has ended is of no use: it counts the memory of whoever started it.
func perform(ctx context.Context, env []string, program string, args ...string) (task, error) {
	var said, complained strings.Builder
	cmd := command(ctx, env, program, args...)
	cmd.Stdout, cmd.Stderr = &said, &complained
	begin := time.Now()
	err := cmd.Start()
	var done task
	if err == nil {
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		done.peak, err = largest(cmd.Process.Pid, ended)
	}
	done.said, done.took = said.String(), time.Since(begin)
	if err != nil {
		return done, fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(program), strings.Join(args, " "), err, done.said, complained.String())
	}
	return done, nil
}

// largest is the memory of a process at its largest, once it has ended.
func largest(pid int, ended <-chan error) (peak int64, err error) {
	look := time.NewTicker(watchEvery)
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

// grown is the memory of a running process before something was done, and at its largest
// meanwhile, in bytes.
type grown struct{ before, peak int64 }

func (g grown) String() string { return megabytes(g.peak) + ", before " + megabytes(g.before) }

// growth does something that a running process works at.
func growth(pid int, do func() error) (g grown, err error) {
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
