# Becomes systemd in the tree that the first argument names; run by bash as the first process of PID, mount, IPC, UTS and cgroup namespaces.
# pivot_root and not chroot: in a chroot, no unit could have a user namespace.
set -e
cd "$1"
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
for place in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs $place; done
chmod 1777 tmp
for device in null zero full random urandom tty; do touch dev/$device && mount --bind /dev/$device dev/$device; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs tmpfs dev/shm
ip link set lo up
mkdir -p mnt/outside
pivot_root . mnt/outside
umount -l mnt/outside
exec env -i container=private PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --log-target=journal
