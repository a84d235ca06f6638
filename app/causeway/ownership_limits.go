package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"

	"causeway/core/account"
	"causeway/ports"
)

// ownershipLimits returns the limits of this process if it is a server. A command has those of the server that was started last, so that
// it decides as that does, and those of its environment only where none has run within a week.
func (s services) ownershipLimits(ctx context.Context) (account.OwnershipLimits, error) {
	if s.ownership != nil {
		return s.ownership(ctx)
	}
	servers, err := s.db.Processes(ctx)
	if err != nil {
		return nil, err
	}
	var latest ports.Process
	for _, p := range servers {
		if p.OwnershipLimits != nil && p.StartedAt.After(latest.StartedAt) {
			latest = p
		}
	}
	setting, _ := reflect.TypeFor[identityFlags]().FieldByName("OwnershipLimits")
	if latest.OwnershipLimits == nil {
		latest.OwnershipLimits = strings.Split(cmp.Or(os.Getenv(setting.Tag.Get("env")), setting.Tag.Get("default")), ",")
	}
	limits, err := account.ParseOwnershipLimits(latest.OwnershipLimits)
	if err != nil {
		err = fmt.Errorf("%s: %w", setting.Tag.Get("env"), err)
	}
	return limits, err
}
