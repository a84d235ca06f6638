package uma

import "strings"

// ChannelUse is what went over a channel of a node for a payment.
type ChannelUse struct {
	// Outpoint is the output that funds the channel, as the id of the transaction on the chain and the index of the output: "3f…:0".
	Outpoint string
	// MilliSatoshis is the amount.
	MilliSatoshis int64
}

const (
	// MaxChannels is how many channels of a payment are kept.
	MaxChannels = 100
	// maxOutpoint is the longest outpoint, in bytes.
	maxOutpoint = 80
)

// CheckChannels returns an error unless what another provider reports of its channels can be kept.
func CheckChannels(channels []ChannelUse) error {
	if len(channels) > MaxChannels {
		return refuse(InvalidInput, "utxos must have at most 100 entries")
	}
	for _, c := range channels {
		transaction, output, ok := strings.Cut(c.Outpoint, ":")
		if !ok || transaction == "" || len(c.Outpoint) > maxOutpoint || strings.Trim(transaction, "0123456789abcdefABCDEF") != "" ||
			output == "" || strings.Trim(output, "0123456789") != "" {
			return refuse(InvalidInput, "utxo must be the id of a transaction in hexadecimal, a colon and the number of an output")
		}
		if c.MilliSatoshis < 0 || c.MilliSatoshis > maxMsat {
			return refuse(InvalidInput, "amountMsats must be an amount in millisatoshi")
		}
	}
	return nil
}
