ansible-playbook -i hosts site.yml
