package rail

import (
	"path"

	"causeway/core/fault"
)

// sharedSettings are the settings of an adapter that name what only one connection can work with: the folder into which a
// bank puts its files, or the wallet. A chain of EVM keeps its wallets apart by itself, and a partner the payments.
func (c Connection) sharedSettings() (named [5]string) {
	switch c.Adapter {
	case BankFile:
		folder, incoming := c.Settings["folder"], c.Settings["incoming"]
		if folder == "" && c.Settings["sftpAddress"] == "" {
			return named
		}
		if folder != "" {
			folder = path.Clean(folder)
		}
		if incoming == "" {
			incoming = "in"
		}
		return [5]string{folder, c.Settings["sftpAddress"], c.Settings["sftpUser"], path.Clean(c.Settings["sftpFolder"]), path.Clean(incoming)}
	case Bitcoin:
		return [5]string{c.Settings["url"], c.Settings["wallet"]}
	case Partner, EVM:
	}
	return named
}

// CheckShared returns INVALID_INPUT if another connection works with the same files of a bank, or the same wallet: each would
// take what is for the other.
func (c Connection) CheckShared(others []Connection) error {
	named := c.sharedSettings()
	if named == [5]string{} {
		return nil
	}
	for _, o := range others {
		if o.Name == c.Name || o.Adapter != c.Adapter || o.sharedSettings() != named {
			continue
		}
		if c.Adapter == Bitcoin {
			return invalidSetting("wallet", "is the wallet of "+o.Name+" already: a wallet has one connection; change that one")
		}
		// Files that stay are read by both, each for its own account.
		if c.Settings["archive"] == "none" && o.Settings["archive"] == "none" && c.bankAccount() != o.bankAccount() {
			continue
		}
		return invalidSetting("incoming", "is the folder of "+o.Name+" already, and each would take the files of the other. For the same account, change that connection; "+
			`for another account, have the bank use another folder, or set "archive": "none" for both`)
	}
	return nil
}

func (c Connection) bankAccount() [3]string {
	return [3]string{c.Settings["iban"], c.Settings["routingNumber"], c.Settings["accountNumber"]}
}

func invalidSetting(name, message string) error {
	return fault.Invalid(fault.Field{Field: "settings." + name, Message: message})
}
