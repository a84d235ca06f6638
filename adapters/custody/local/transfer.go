package local

import (
	"context"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"causeway/core/ethereum"
	"causeway/core/wallet"
	"causeway/ports"
)

// Address implements ports.Custody.
func (c *Custody) Address(ctx context.Context, w ports.WalletID) (ethereum.Address, error) {
	s := c.newSecrets()
	defer s.wipe()
	_, text, err := c.open(ctx, s, w)
	if err != nil {
		return ethereum.Address{}, err
	}
	key, err := privateKey(s, text, addressPath)
	if err != nil {
		return ethereum.Address{}, err
	}
	return ethereum.AddressOf(publicKey(key))
}

// SignTransfer implements ports.Custody. It trusts nothing that it is given but what the owner has signed: the authorisation is checked
// with the key of the wallet, and what is signed follows from the payload, but its nonce, which is fixed at the first call, before the
// end of the time of the transfer, and the gas.
func (c *Custody) SignTransfer(ctx context.Context, w ports.WalletID, a wallet.Authorization,
	terms wallet.Terms) (signed wallet.SignedTransfer, err error) {
	s := c.newSecrets()
	defer s.wipe()
	private, text, err := c.open(ctx, s, w)
	if err != nil {
		return signed, err
	}
	a.Platform, a.Account = w.Platform, w.Account
	if signed.ChainTransfer, err = a.ChainTransfer(publicKey(private)); err != nil {
		return signed, err
	}
	key, err := privateKey(s, text, addressPath)
	if err != nil {
		return signed, err
	}
	if signed.From, err = ethereum.AddressOf(publicKey(key)); err != nil {
		return signed, err
	}
	if signed.Method != wallet.ByAuthorization {
		if terms.Nonce, err = c.store.FixTransferNonce(ctx, w, signed.Nonce, terms.Nonce, time.Unix(signed.ValidBefore, 0)); err != nil {
			return signed, err
		}
		signed.Terms = terms
	}
	digest, err := signed.Digest(signed.From, terms)
	if err != nil {
		return signed, err
	}
	compact := ecdsa.SignCompact(key, digest[:], false)
	signed.V = compact[0]
	copy(signed.R[:], compact[1:])
	copy(signed.S[:], compact[33:])
	return signed, nil
}
