package bitcoin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"causeway/adapters/rails/bitcoin/btc"
)

// minVersion is the first version of Bitcoin Core whose fundrawtransaction knows minconf: 26.
const minVersion = 260_000

// depositKey returns the private key of deposits. It is read when it is needed, and kept nowhere.
func (r *Rail) depositKey(ctx context.Context) (btc.ExtendedKey, error) {
	text, err := r.Secrets.Secret(ctx, r.settings.depositKey)
	if err != nil {
		return btc.ExtendedKey{}, err
	}
	key, err := r.settings.network.ParseExtendedKey(strings.TrimSpace(string(text)))
	switch {
	case err != nil:
		return key, fmt.Errorf("the secret of %s %w", settingDepositKey, err)
	case !key.IsPrivate():
		return key, fmt.Errorf("the secret of %s is a public key", settingDepositKey)
	case !key.SamePublic(r.settings.depositXpub):
		return key, fmt.Errorf("the secret of %s is not the private key of %s", settingDepositKey, settingDepositXpub)
	}
	return key, nil
}

// Test implements ports.RailTester.
func (r *Rail) Test(ctx context.Context) (checked []string, err error) {
	for _, check := range []func(context.Context) (string, error){r.testNode, r.testChain, r.testWallet, r.testKey, r.testFee} {
		text, err := check(ctx)
		if err != nil {
			return checked, err
		}
		checked = append(checked, text)
	}
	return checked, nil
}

func (r *Rail) testNode(ctx context.Context) (string, error) {
	var info struct {
		Version int64 `json:"version"`
	}
	if err := r.client.call(ctx, &info, "getnetworkinfo"); err != nil {
		return "", err
	}
	if info.Version < minVersion {
		return "", fmt.Errorf("the node has the version %d; %d or later is needed", info.Version, minVersion)
	}
	return fmt.Sprintf("the node at %s answers, version %d", r.settings.url, info.Version), nil
}

func (r *Rail) testChain(ctx context.Context) (string, error) {
	info, err := r.client.chain(ctx)
	switch {
	case err != nil:
		return "", err
	case info.Chain != r.settings.network.Name:
		return "", fmt.Errorf("the node is on the network %q and not on %s", info.Chain, r.settings.network.Name)
	case info.Downloading || info.Headers > info.Blocks+2:
		return "", fmt.Errorf("the node has %d of %d blocks; wait until it has all", info.Blocks, info.Headers)
	case info.Pruned && info.Blocks-info.PruneHeight < 7*firstBlocks:
		return "", fmt.Errorf("the node keeps blocks from height %d on only; let it keep those of a week at least, for payments to new addresses",
			info.PruneHeight)
	}
	text := fmt.Sprintf("it has all %d blocks of %s", info.Blocks, info.Chain)
	if info.Pruned {
		text += fmt.Sprintf(", those from height %d on in full; a wallet that is lost can be read again from there on only", info.PruneHeight)
	}
	return text, nil
}

func (r *Rail) testWallet(ctx context.Context) (string, error) {
	info, err := r.client.walletInfo(ctx)
	switch {
	case err != nil:
		return "", err
	case !info.Descriptors:
		return "", errors.New("the wallet has no descriptors; make one with createwallet")
	case !info.PrivateKeys:
		return "", errors.New("the wallet has no private keys, and so cannot pay")
	case info.UnlockedUntil != nil && r.settings.passphrase == "":
		return "", fmt.Errorf("the wallet is encrypted; set %s", settingPassphrase)
	case info.scans():
		return "", errors.New("the wallet is reading blocks; wait until it has finished")
	}
	if err := r.client.unlock(ctx); err != nil {
		return "", err
	}
	balance, err := r.client.balance(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("wallet %s is loaded and holds %s BTC", r.settings.wallet, btc.FormatAmount(balance)), nil
}

// testKey compares an address with the one that the node derives.
func (r *Rail) testKey(ctx context.Context) (string, error) {
	key, err := r.depositKey(ctx)
	if err != nil {
		return "", err
	}
	child, err := key.Path([]uint32{0, 1, 2, 3})
	if err != nil {
		return "", err
	}
	var derived []string
	descriptor := btc.WithChecksum("wpkh(" + hex.EncodeToString(child.PublicKey()) + ")")
	if err := r.client.call(ctx, &derived, "deriveaddresses", descriptor); err != nil {
		return "", err
	}
	if len(derived) != 1 || derived[0] != child.Address() {
		return "", fmt.Errorf("the node derives the address %v where this program derives %s", derived, child.Address())
	}
	return settingDepositKey + " is the private key of " + settingDepositXpub + ", and the node derives the same addresses", nil
}

func (r *Rail) testFee(ctx context.Context) (string, error) {
	rate, err := r.client.feeRate(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("a payment within %d blocks costs %s satoshis per virtual byte", r.settings.feeTarget, rate), nil
}
