package evm_test

import (
	"context"
	"reflect"
	"testing"

	"causeway/adapters/rails/evm"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/rail"
)

// noSecrets has a URL with a key.
type noSecrets struct{}

func (noSecrets) Secret(context.Context, string) ([]byte, error) {
	return []byte("https://node.example.com/v2/s9XK2LqYb7Tn4vRw"), nil
}

func TestNew_NamesEverySettingThatIsNotValid(t *testing.T) {
	t.Parallel()
	// Keys of providers are often a part of the path of a URL; they are refused in clear.
	valid := map[string]string{"urls": "env:NODE,https://node.example.com/rpc/ethereum-mainnet", "seed": "env:SEED",
		"usdcContract":  "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
		"confirmations": "finalized", "sweepFrom": "never", "minPriorityFeeGwei": "0.05"}
	for _, c := range []struct {
		change map[string]string
		want   []string
	}{
		{map[string]string{"urls": "https://node.example.com/v2/s9XK2LqYb7Tn4vRw", "seed": "word word", "chainId": "0", "usdcContract": "0x1",
			"colour": "red"},
			[]string{"settings.chainId", "settings.colour", "settings.seed", "settings.urls", "settings.usdcContract"}},
		{map[string]string{"urls": "https://u:p@node.example.com"}, []string{"settings.urls"}},
		{map[string]string{"urls": "https://node.example.com?apikey=1"}, []string{"settings.urls"}},
		{map[string]string{"urls": "ws://node.example.com"}, []string{"settings.urls"}},
		{map[string]string{"urls": ""}, []string{"settings.urls"}},
		{map[string]string{"maxFeeGwei": "0.04"}, []string{"settings.minPriorityFeeGwei"}},
		{map[string]string{"maxFeeGwei": "1e3", "stuckAfter": "0s", "sweepFrom": "0.5", "confirmations": "all"},
			[]string{"settings.confirmations", "settings.maxFeeGwei", "settings.stuckAfter", "settings.sweepFrom"}},
	} {
		settings := map[string]string{}
		for _, values := range []map[string]string{valid, c.change} {
			for name, value := range values {
				settings[name] = value
			}
		}
		_, err := evm.New(t.Context(), evm.Config{Secrets: noSecrets{}, Connection: rail.Connection{Name: "base", Adapter: rail.EVM,
			Rails: []corridor.Rail{corridor.Base}, Currencies: []money.Currency{money.USDC}, Settings: settings}})
		f, _ := fault.As(err)
		if f == nil {
			t.Errorf("%v: %v", c.change, err)
			continue
		}
		var got []string
		for _, field := range f.Fields {
			got = append(got, field.Field)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: refused %v, want %v", c.change, got, c.want)
		}
	}
}
