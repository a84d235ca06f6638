package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// startup is how long the service takes to be of use on a machine of its own.
type startup struct{ firstStart, restart, stop time.Duration }

// measureStartup starts `causeway dev` twice on one fresh folder: the first start
// makes the database, the second finds it.
func measureStartup(ctx context.Context, o options, folder string) (startup, error) {
	var s startup
	for _, took := range []*time.Duration{&s.firstStart, &s.restart} {
		address, err := freeAddress()
		if err != nil {
			return s, err
		}
		begin := time.Now()
		dev, err := startProcess("causeway dev", filepath.Join(folder, "dev.log"), nil,
			o.binary, "dev", "--no-demo", "--listen", address, "--data", filepath.Join(folder, "dev"))
		if err != nil {
			return s, err
		}
		err = dev.awaitReady(ctx, address)
		*took = time.Since(begin)
		stopping := time.Now()
		if stopErr := dev.stop(); err == nil {
			err = stopErr
		}
		if err != nil {
			return s, fmt.Errorf("start causeway dev: %w", err)
		}
		s.stop = max(s.stop, time.Since(stopping))
	}
	return s, nil
}
