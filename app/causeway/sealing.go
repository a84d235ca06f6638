package main

import (
	"fmt"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/checkpoints"
	"causeway/adapters/encryption"
	"causeway/adapters/ids"
	"causeway/app/audit"
)

// sealSettings say how postings are sealed in their log.
type sealSettings struct {
	SealEvery time.Duration `env:"CAUSEWAY_SEAL_EVERY" default:"1m" help:"Longest that a posting waits to be sealed in the ledger's log."`
	Heads     string        `env:"CAUSEWAY_HEADS" help:"Where each signed head of the ledger's log is kept outside of the database: a folder, or an http or https address that it is posted to. dev uses <data>/heads." placeholder:"WHERE"`
}

func (s sealSettings) checkSealing(refuse func(setting, must string, got any)) {
	if s.SealEvery < time.Second || s.SealEvery > 24*time.Hour {
		refuse("--seal-every (CAUSEWAY_SEAL_EVERY)", "from 1s to 24h", s.SealEvery)
	}
}

// openSealing wires the log of postings, with its key sealed in the database.
func (h *app) openSealing(masterKey [32]byte, made *ids.Generator) error {
	box, err := encryption.New(masterKey[:])
	if err != nil {
		return err
	}
	log := h.db.LedgerLog()
	config := audit.LogConfig{Log: log, Signer: checkpoints.NewKeyring(log, box, systemClock{}, made), Clock: systemClock{}, Logger: logrus.NewEntry(h.log), Interval: h.SealEvery}
	if h.Heads != "" {
		if config.Publisher, err = checkpoints.NewPublisher(h.Heads); err != nil {
			return fmt.Errorf("--heads (CAUSEWAY_HEADS): %w", err)
		}
	}
	h.sealing = audit.NewLog(config)
	return nil
}
