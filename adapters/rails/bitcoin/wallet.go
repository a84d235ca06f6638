package bitcoin

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"causeway/adapters/rails/bitcoin/btc"
)

// chainInfo is what getblockchaininfo returns.
type chainInfo struct {
	Chain       string `json:"chain"`
	Blocks      int64  `json:"blocks"`
	Headers     int64  `json:"headers"`
	Best        string `json:"bestblockhash"`
	Downloading bool   `json:"initialblockdownload"`
	Pruned      bool   `json:"pruned"`
	PruneHeight int64  `json:"pruneheight"`
}

func (c *client) chain(ctx context.Context) (info chainInfo, err error) {
	return info, c.call(ctx, &info, "getblockchaininfo")
}

// walletInfo is what getwalletinfo returns.
type walletInfo struct {
	Descriptors   bool            `json:"descriptors"`
	PrivateKeys   bool            `json:"private_keys_enabled"`
	UnlockedUntil *int64          `json:"unlocked_until"` // nil: not encrypted
	Scanning      json.RawMessage `json:"scanning"`       // false, or the progress
}

func (w walletInfo) scans() bool { return len(w.Scanning) > 0 && string(w.Scanning) != "false" }

func (c *client) walletInfo(ctx context.Context) (info walletInfo, err error) {
	return info, c.call(ctx, &info, "getwalletinfo")
}

// blockHeader is what getblockheader returns.
type blockHeader struct {
	Height int64 `json:"height"`
	Time   int64 `json:"time"`
}

func (c *client) header(ctx context.Context, block string) (h blockHeader, err error) {
	return h, c.call(ctx, &h, "getblockheader", block)
}

func (c *client) blockHash(ctx context.Context, height int64) (hash string, err error) {
	return hash, c.call(ctx, &hash, "getblockhash", height)
}

// listed is an entry of listsinceblock.
type listed struct {
	Address       string      `json:"address"`
	Category      string      `json:"category"`
	Amount        json.Number `json:"amount"`
	Vout          int64       `json:"vout"`
	Confirmations int64       `json:"confirmations"`
	Trusted       bool        `json:"trusted"`
	Block         string      `json:"blockhash"`
	Height        int64       `json:"blockheight"`
	BlockTime     int64       `json:"blocktime"`
	TxID          string      `json:"txid"`
}

// since is what listsinceblock returns.
type since struct {
	Transactions []listed `json:"transactions"`
	LastBlock    string   `json:"lastblock"`
}

// listSince returns the transactions of the wallet after a block, and the last block with the confirmations.
func (c *client) listSince(ctx context.Context, block string, confirmations int64) (s since, err error) {
	return s, c.call(ctx, &s, "listsinceblock", block, confirmations, false, false)
}

// walletTransaction is what gettransaction returns.
type walletTransaction struct {
	Confirmations int64  `json:"confirmations"` // negative: another transaction with one of its coins is that deep
	Block         string `json:"blockhash"`
	Height        int64  `json:"blockheight"`
	BlockTime     int64  `json:"blocktime"`
	Hex           string `json:"hex"`
}

// transaction returns a transaction of the wallet; false if the wallet does not know it.
func (c *client) transaction(ctx context.Context, txid string) (t walletTransaction, known bool, err error) {
	err = c.call(ctx, &t, "gettransaction", txid)
	if hasCode(err, rpcNotFound) {
		return t, false, nil
	}
	return t, err == nil, err
}

// feeRate returns the estimate of the node, or the fallback, within the limit.
func (c *client) feeRate(ctx context.Context) (btc.FeeRate, error) {
	var estimate struct {
		Rate   json.Number `json:"feerate"`
		Errors []string    `json:"errors"`
	}
	if err := c.call(ctx, &estimate, "estimatesmartfee", c.settings.feeTarget); err != nil {
		return 0, err
	}
	if estimate.Rate == "" {
		if c.settings.fallbackFeeRate > 0 {
			return c.settings.fallbackFeeRate, nil
		}
		return 0, fmt.Errorf("the node estimates no fee (%s); set %s", strings.Join(estimate.Errors, "; "), settingFallbackFeeRate)
	}
	// Bitcoin for 1000 virtual bytes are satoshis for 1000 virtual bytes.
	satoshis, err := btc.ParseAmount(string(estimate.Rate))
	if err != nil {
		return 0, fmt.Errorf("estimatesmartfee: %w", err)
	}
	rate := btc.FeeRate(max(satoshis, 1000))
	if rate > c.settings.maxFeeRate {
		return 0, fmt.Errorf("the fee of %s satoshis per virtual byte is above %s", rate, settingMaxFeeRate)
	}
	return rate, nil
}

// outpoint names a coin in calls.
type outpoint struct {
	TxID string `json:"txid"`
	Vout int64  `json:"vout"`
}

func outpoints(outputs []Output) []outpoint {
	points := make([]outpoint, len(outputs))
	for i, o := range outputs {
		points[i] = outpoint(o)
	}
	return points
}

// unlock unlocks an encrypted wallet for a minute.
func (c *client) unlock(ctx context.Context) error {
	if c.settings.passphrase == "" {
		return nil
	}
	passphrase, err := c.secrets.Secret(ctx, c.settings.passphrase)
	if err != nil {
		return err
	}
	err = c.call(ctx, nil, "walletpassphrase", strings.TrimRight(string(passphrase), "\r\n"), 60)
	if hasCode(err, rpcAlreadyUnlocked) {
		return nil
	}
	return err
}

var (
	// errFunds says that the wallet has not enough confirmed coins.
	errFunds = errors.New("the wallet has not enough confirmed coins")
	// errFee says that the fee of a transaction is above a limit; other payments may cost less.
	errFee = errors.New("is above")
)

// sign makes a transaction that pays to addresses, in which the wallet adds coins to the given ones and change. It is
// not sent, and the wallet does not keep it. One whose fee is above the limit is not signed.
func (c *client) sign(ctx context.Context, payments []Payment, coins []Output,
	rate btc.FeeRate) (raw []byte, fee int64, err error) {
	outputs := make([]map[string]string, len(payments))
	for i, p := range payments {
		outputs[i] = map[string]string{p.Address: btc.FormatAmount(p.Satoshis)}
	}
	var text string
	if err := c.call(ctx, &text, "createrawtransaction", outpoints(coins), outputs, 0, true); err != nil {
		return nil, 0, err
	}
	// Coins have a confirmation: change of a transaction that is replaced would vanish with it.
	options := map[string]any{"fee_rate": rate.String(), "minconf": 1, "replaceable": true, "add_inputs": true}
	var funded struct {
		Hex string      `json:"hex"`
		Fee json.Number `json:"fee"`
	}
	if err := c.call(ctx, &funded, "fundrawtransaction", text, options); err != nil {
		if hasCode(err, rpcWalletError, rpcInsufficientFunds) {
			return nil, 0, fmt.Errorf("%w: %w", errFunds, err)
		}
		return nil, 0, err
	}
	if fee, err = btc.ParseAmount(string(funded.Fee)); err != nil {
		return nil, 0, fmt.Errorf("fundrawtransaction: %w", err)
	}
	if fee > c.settings.maxFee {
		return nil, 0, fmt.Errorf("the fee of %s BTC %w %s", btc.FormatAmount(fee), errFee, settingMaxFee)
	}
	if err := c.unlock(ctx); err != nil {
		return nil, 0, err
	}
	var signed struct {
		Hex      string `json:"hex"`
		Complete bool   `json:"complete"`
	}
	if err := c.call(ctx, &signed, "signrawtransactionwithwallet", funded.Hex); err != nil {
		return nil, 0, err
	}
	if !signed.Complete {
		return nil, 0, errors.New("signrawtransactionwithwallet: the wallet has not the keys of all of its coins")
	}
	raw, err = hex.DecodeString(signed.Hex)
	return raw, fee, err
}

// send sends a transaction. One that is in the chain already is sent.
func (c *client) send(ctx context.Context, raw []byte) error {
	err := c.call(ctx, nil, "sendrawtransaction", hex.EncodeToString(raw))
	if hasCode(err, rpcAlreadyInChain) {
		return nil
	}
	return err
}

// balance returns what the wallet can spend, also of its own change that is not in the chain yet.
func (c *client) balance(ctx context.Context) (int64, error) {
	var balances struct {
		Mine struct {
			Trusted json.Number `json:"trusted"`
			Used    json.Number `json:"used"` // of addresses that were used before, in wallets that avoid that
		} `json:"mine"`
	}
	if err := c.call(ctx, &balances, "getbalances"); err != nil {
		return 0, err
	}
	total := int64(0)
	for _, part := range []json.Number{balances.Mine.Trusted, balances.Mine.Used} {
		if part == "" {
			continue
		}
		satoshis, err := btc.ParseAmount(string(part))
		if err != nil {
			return 0, fmt.Errorf("getbalances: %w", err)
		}
		total += satoshis
	}
	return total, nil
}
