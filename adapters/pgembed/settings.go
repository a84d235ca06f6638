package pgembed

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// pinnedSettings cannot be changed: they are passed on the command line, which overrides
// configuration files and ALTER SYSTEM.
//
//   - Committed transactions survive a crash.
//   - The server accepts connections on the unix socket only.
//   - Failed statements contain customers' data and are not logged.
var pinnedSettings = map[string]string{
	"fsync":                   "on",
	"full_page_writes":        "on",
	"synchronous_commit":      "on",
	"listen_addresses":        "",
	"unix_socket_permissions": "0700",
	"port":                    socketPort,
	"log_min_error_statement": "panic",
	"log_error_verbosity":     "terse",
	"log_statement":           "none",
	"unix_socket_directories": "", // set at start
	"cluster_name":            "causeway",
}

// defaultSettings can be overridden by Options.Settings. They fit a laptop and are sufficient for
// a few thousand payments per second. Planner settings are not here: adapters/postgres sets them
// for its own sessions, so that they hold on every server.
var defaultSettings = map[string]string{
	"max_connections": "100",
	"shared_buffers":  "128MB",
	"timezone":        "UTC",
	"log_timezone":    "UTC",
	"lc_messages":     "C",
	"log_line_prefix": "%m [%p] ",
}

// throwawaySettings disable durability; see Options.Throwaway.
var throwawaySettings = map[string]string{
	"fsync":              "off",
	"full_page_writes":   "off",
	"synchronous_commit": "off",
	"wal_level":          "minimal",
	"max_wal_senders":    "0",
}

// flags returns the command line arguments of postgres.
func (o Options) flags() ([]string, error) {
	if o.MaxConnections < 0 {
		return nil, fmt.Errorf("MaxConnections must not be negative, is %d", o.MaxConnections)
	}
	settings := maps.Clone(defaultSettings)
	if o.MaxConnections > 0 {
		settings["max_connections"] = strconv.Itoa(o.MaxConnections)
	}
	for name, value := range o.Settings {
		if _, ok := pinnedSettings[name]; ok {
			return nil, fmt.Errorf("the Postgres setting %s cannot be changed", name)
		}
		settings[name] = value
	}
	maps.Copy(settings, pinnedSettings)
	if o.Throwaway {
		maps.Copy(settings, throwawaySettings)
	}
	delete(settings, "unix_socket_directories")

	var flags []string
	for _, name := range slices.SortedFunc(maps.Keys(settings), cmp.Compare[string]) {
		flags = append(flags, "-c", name+"="+settings[name])
	}
	return flags, nil
}
