package main

import (
	"context"
	"strings"
	"testing"
)

func TestMaintenanceTask_PanicIsAnError(t *testing.T) {
	t.Parallel()
	// A panic of a task is an error of this run, and does not end the process.
	task := maintenanceTask{name: "broken", run: func(context.Context) error { panic("broken task") }}

	if err := task.runRecovered(t.Context()); err == nil || !strings.Contains(err.Error(), "broken task") {
		t.Errorf("error %v", err)
	}
}
