package main

import (
	"context"
	"errors"

	"causeway/adapters/postgres"
	"causeway/core/wallet"
	"causeway/ports"
)

// walletKeys implements ports.TransferKeys with a custody, and the evidence of the database.
type walletKeys struct {
	ports.Custody
	db *postgres.DB
}

// SignTransfer implements ports.TransferKeys.
func (k walletKeys) SignTransfer(ctx context.Context, payment ports.TransactionKey, terms wallet.Terms) (wallet.SignedTransfer, error) {
	evidence, found, err := k.db.WalletAuthorization(ctx, payment)
	if err == nil && !found {
		err = errors.New("nobody has signed the payment " + payment.ID.String())
	}
	if err != nil {
		return wallet.SignedTransfer{}, err
	}
	return k.Custody.SignTransfer(ctx, ports.WalletID{Platform: payment.Platform, Account: evidence.Account}, evidence, terms)
}
