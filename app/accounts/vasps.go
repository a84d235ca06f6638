package accounts

import (
	"context"

	"causeway/core/platform"
	"causeway/core/vasp"
	"causeway/ports"
)

// VASPs returns the directory of custodians: the one that was imported last or, without any, that of the program.
func (s *Service) VASPs(ctx context.Context) (vasp.Directory, error) {
	imported, found, err := s.Store.VASPDirectory(ctx)
	if err != nil || !found {
		return vasp.Default, err
	}
	return imported.Providers, nil
}

// ImportedVASPs is what an import has changed.
type ImportedVASPs struct {
	vasp.Import
	Changes []vasp.Change
	// Used are the numbers of accounts with a name that is no longer in the directory. They stay as they are.
	Used map[string]int64
}

// ImportVASPs puts a directory in place of the present one; with dryRun it only returns what that would change. Fault: INVALID_INPUT.
func (s *Service) ImportVASPs(ctx context.Context, d vasp.Directory, by platform.Author, dryRun bool) (ImportedVASPs, error) {
	before, err := s.VASPs(ctx)
	if err != nil {
		return ImportedVASPs{}, err
	}
	imported := ImportedVASPs{Changes: d.Changes(before)}
	if imported.Import, err = vasp.NewImport(d, by, s.Clock.Now()); err != nil {
		return imported, err
	}
	var removed []string
	for _, c := range imported.Changes {
		if c.Before != "" {
			removed = append(removed, c.Before)
		}
	}
	if imported.Used, err = s.Store.AccountsByVASP(ctx, removed); err != nil || dryRun {
		return imported, err
	}
	return imported, ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		return tx.CreateVASPDirectory(ctx, imported.Import)
	})
}
